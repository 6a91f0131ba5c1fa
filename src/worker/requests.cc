#include <nlohmann/json.hpp>

#include "worker/messages.h"

namespace dlbench::worker {
namespace {

using Json = nlohmann::json;

/// One line; bytes that are not UTF-8 (a path) are replaced rather than thrown over.
std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json Request(std::int64_t id, const std::string& type) { return {{"id", id}, {"type", type}}; }

}  // namespace

std::string HelloLine(std::int64_t id) {
  Json json = Request(id, "hello");
  json["protocol"] = kProtocolVersion;
  return Line(json);
}

std::string PrepareLine(std::int64_t id, const PrepareRequest& request,
                        const std::string& network_json) {
  Json json = Request(id, "prepare");
  json["network"] = Json::parse(network_json, nullptr, false);
  json["weights"] = request.weights.string();
  json["batches"] = request.batches.string();
  json["batch"] = request.batch;
  json["pool"] = request.pool;
  json["mode"] = request.mode;
  json["device"] = request.device;
  json["precision"] = request.precision;
  json["threads"] = request.threads;
  json["rank"] = request.rank;
  json["world_size"] = request.world_size;
  json["input"] = request.input;
  json["preset"] = request.preset;
  json["variant"] = request.variant;
  json["settings"] = request.settings;
  return Line(json);
}

std::string VerifyLine(std::int64_t id, const VerifyRequest& request) {
  Json json = Request(id, "verify");
  json["folder"] = request.folder;
  json["batches"] = request.batches;
  json["learning_rates"] = request.learning_rates;
  json["weights_after"] = request.weights_after;
  json["logits"] = request.logits;
  json["gradients"] = request.gradients;
  return Line(json);
}

std::string RunLine(std::int64_t id, const RunRequest& request) {
  Json json = Request(id, "run");
  json["steps"] = request.steps;
  json["block_steps"] = request.block_steps;
  json["first_batch"] = request.first_batch;
  json["reset"] = request.reset;
  return Line(json);
}

std::string ObserverLine(std::int64_t id, const ObserverRequest& request) {
  Json json = Request(id, "observer");
  json["blocks"] = request.blocks;
  json["block_steps"] = request.block_steps;
  json["seed"] = request.seed;
  return Line(json);
}

std::string ExportLine(std::int64_t id, const std::string& folder) {
  Json json = Request(id, "export");
  json["folder"] = folder;
  return Line(json);
}

std::string PlainLine(std::int64_t id, const std::string& type) { return Line(Request(id, type)); }

Result<std::string> RawLine(std::int64_t id, std::string_view request) {
  Json json = Json::parse(request, nullptr, false);
  if (!json.is_object()) return Error(ErrorCode::kInput, "a request must be a JSON object");
  json["id"] = id;
  return Line(json);
}

}  // namespace dlbench::worker
