#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "core/file.h"
#include "core/text.h"
#include "worker/failure.h"
#include "worker/messages.h"
#include "worker/reply.h"

namespace dlbench::worker {
namespace {

constexpr std::int64_t kMostThreads = 1'000'000;
/// Steps of one record are stored in 32 bits.
constexpr std::int64_t kMostSteps = 0xFFFFFFFF;

std::string Count(std::size_t count) { return std::to_string(count); }

/// The file `name` of the launch's folder; a fault if it leaves the folder or is not there.
std::filesystem::path FileInside(Reply& reply, const std::filesystem::path& folder,
                                 const std::string& key, const std::string& name) {
  const auto path = PathInside(folder, name);
  if (!path.ok()) {
    reply.Fail(FailureKind::kProtocolError, "'" + key + "': " + Quoted(path.error().message()));
    return {};
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(*path, error)) {
    reply.Fail(FailureKind::kWrongResult,
               "'" + key + "' names the file '" + Quoted(name) + "', which was not written");
  }
  return *path;
}

std::optional<std::filesystem::path> OptionalFile(Reply& reply, const std::filesystem::path& folder,
                                                  const std::string& key) {
  const auto name = reply.OptionalText(key);
  if (!name) return std::nullopt;
  return FileInside(reply, folder, key, *name);
}

std::string OneOf(Reply& reply, const std::string& key, const std::vector<std::string>& known) {
  std::string text = reply.Text(key);
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    reply.Fail(FailureKind::kProtocolError,
               "'" + key + "' is '" + Quoted(text) + "', not one of " + Join(known, ", "));
  }
  return text;
}

std::vector<std::string> SomeTexts(Reply& reply, const std::string& key) {
  std::vector<std::string> texts = reply.Texts(key);
  if (texts.empty()) reply.Fail(FailureKind::kProtocolError, "the list '" + key + "' is empty");
  return texts;
}

void ReadVerifiedWeights(Reply& reply, const VerifyRequest& asked, const Expectation& expected,
                         Verified& verified) {
  const std::set<std::int64_t> wanted(asked.weights_after.begin(), asked.weights_after.end());
  for (const auto& [key, name] : reply.TextMap("weights")) {
    const auto steps = ParseInt(key);
    if (!steps || wanted.count(*steps) == 0) {
      reply.Fail(FailureKind::kProtocolError,
                 "'weights' has an entry '" + Quoted(key) + "' that was not asked for");
      return;
    }
    verified.weights[*steps] = FileInside(reply, expected.folder, "weights." + key, name);
  }
  for (const std::int64_t steps : wanted) {
    if (verified.weights.count(steps) > 0) continue;
    reply.Fail(FailureKind::kProtocolError,
               "the weights after " + std::to_string(steps) + " steps are missing");
  }
}

/// Files that were asked for and that hello has promised.
void CheckPromised(Reply& reply, const VerifyRequest& asked, const Expectation& expected,
                   const Verified& verified) {
  if (asked.logits && !verified.logits) {
    reply.Fail(FailureKind::kProtocolError, "logits were asked for, but there is no 'logits'");
  }
  if (asked.gradients && expected.gradients != "none" && !verified.gradients) {
    reply.Fail(FailureKind::kProtocolError,
               "hello says that gradients are handed out ('" + expected.gradients +
                   "'), but there is no 'gradients'; an adapter without says \"none\"");
  }
}

/// Whether the counts are those of `asked`: no step more, none less, each with its place.
void CheckCounts(Reply& reply, const RunRequest& asked, const Expectation& expected,
                 const std::vector<std::int64_t>& steps) {
  const std::int64_t each = expected.asynchronous ? asked.block_steps : 1;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::int64_t due = std::min(each, asked.steps - sum);
    if (steps[i] < 1 || steps[i] > kMostSteps) {
      reply.Fail(FailureKind::kProtocolError,
                 "record " + Count(i) + " counts " + std::to_string(steps[i]) + " steps");
      return;
    }
    sum += steps[i];
    if (steps[i] != due && sum <= asked.steps) {
      reply.Fail(FailureKind::kProtocolError,
                 "record " + Count(i) + " counts " + std::to_string(steps[i]) + " steps; " +
                     (expected.asynchronous ? "an asynchronous adapter's blocks have "
                                            : "a synchronous adapter's records have ") +
                     std::to_string(due));
      return;
    }
  }
  if (sum != asked.steps) {
    reply.Fail(FailureKind::kWrongResult, "asked for " + std::to_string(asked.steps) +
                                              " steps, the answer counts " + std::to_string(sum));
  }
}

/// One positive time for each of `blocks` blocks.
std::vector<std::int64_t> BlockTimes(Reply& reply, const std::string& key, std::int64_t blocks) {
  auto times = reply.Integers(key);
  if (std::ssize(times) != blocks) {
    reply.Fail(FailureKind::kWrongResult, "asked for " + std::to_string(blocks) + " blocks, '" +
                                              key + "' has " + Count(times.size()) + " times");
  }
  if (std::any_of(times.begin(), times.end(), [](std::int64_t time) { return time < 1; })) {
    reply.Fail(FailureKind::kWrongResult, "'" + key + "' has a time that is not positive");
  }
  return times;
}

}  // namespace

Outcome<Hello> ParseHello(std::string_view line, std::int64_t id) {
  auto reply = Reply::Parse(line, id, "hello");
  if (!reply.ok()) return reply.failure();
  Hello hello;
  hello.protocol = static_cast<int>(reply->Integer("protocol", 0, kMostThreads));
  if (!reply->fault() && hello.protocol != kProtocolVersion) {
    return MakeFailure(FailureKind::kUnsupported,
                       "the adapter speaks version " + std::to_string(hello.protocol) +
                           " of the protocol, dlbench version " + std::to_string(kProtocolVersion) +
                           "; install the framework again to get the adapter of this dlbench");
  }
  hello.framework = reply->Text("framework");
  hello.framework_version = reply->Text("framework_version");
  hello.adapter_version = reply->Text("adapter_version");
  hello.language = reply->Text("language");
  hello.mode_labels = reply->TextMap("mode_label");
  hello.build = reply->TextMap("build");
  hello.devices = SomeTexts(*reply, "devices");
  hello.precisions = SomeTexts(*reply, "precisions");
  hello.modes = SomeTexts(*reply, "modes");
  hello.inputs = SomeTexts(*reply, "inputs");
  hello.presets = SomeTexts(*reply, "presets");
  hello.ops = SomeTexts(*reply, "ops");
  hello.asynchronous = reply->Flag("asynchronous");
  hello.gradients = OneOf(*reply, "gradients", {"step", "none", "separate"});
  hello.learning_rate = OneOf(*reply, "learning_rate", {"input", "fixed"});
  hello.settings = reply->TextMap("settings");
  if (auto fault = reply->fault()) return std::move(*fault);
  return hello;
}

Outcome<Prepared> ParsePrepared(std::string_view line, std::int64_t id,
                                const PrepareRequest& asked) {
  auto reply = Reply::Parse(line, id, "prepared");
  if (!reply.ok()) return reply.failure();
  Prepared prepared;
  prepared.batch = reply->Integer("batch", 0);
  prepared.precision = reply->Text("precision");
  prepared.threads = static_cast<int>(reply->Integer("threads", 1, kMostThreads));
  prepared.effective_settings = reply->TextMap("effective_settings");
  if (auto fault = reply->fault()) return std::move(*fault);
  if (prepared.batch != asked.batch) {
    return MakeFailure(FailureKind::kWrongResult, "batch " + std::to_string(asked.batch) +
                                                      " not applied: the adapter built " +
                                                      std::to_string(prepared.batch));
  }
  if (prepared.precision != asked.precision) {
    return MakeFailure(FailureKind::kWrongResult,
                       "precision " + asked.precision + " not applied: weights, gradients or " +
                           "optimiser state are " + Quoted(prepared.precision));
  }
  return prepared;
}

Outcome<Verified> ParseVerified(std::string_view line, std::int64_t id, const VerifyRequest& asked,
                                const Expectation& expected) {
  auto reply = Reply::Parse(line, id, "verified");
  if (!reply.ok()) return reply.failure();
  Verified verified;
  verified.losses = reply->Finite("losses", "loss of step");
  if (!reply->fault() && verified.losses.size() != asked.batches.size()) {
    reply->Fail(FailureKind::kWrongResult, "asked for " + Count(asked.batches.size()) +
                                               " steps, got " + Count(verified.losses.size()) +
                                               " losses");
  }
  verified.logits = OptionalFile(*reply, expected.folder, "logits");
  verified.gradients = OptionalFile(*reply, expected.folder, "gradients");
  ReadVerifiedWeights(*reply, asked, expected, verified);
  CheckPromised(*reply, asked, expected, verified);
  if (auto fault = reply->fault()) return std::move(*fault);
  return verified;
}

Outcome<Ran> ParseRan(std::string_view line, std::int64_t id, const RunRequest& asked,
                      const Expectation& expected) {
  auto reply = Reply::Parse(line, id, "ran");
  if (!reply.ok()) return reply.failure();
  Ran ran;
  const auto steps = reply->Integers("steps");
  const auto begin = reply->Integers("begin_ns");
  const auto end = reply->Integers("end_ns");
  ran.losses = reply->Finite("losses", expected.asynchronous ? "loss of block" : "loss of step");
  if (begin.size() != steps.size() || end.size() != steps.size() ||
      ran.losses.size() != steps.size()) {
    reply->Fail(FailureKind::kProtocolError,
                "the lists have different lengths: steps " + Count(steps.size()) + ", begin_ns " +
                    Count(begin.size()) + ", end_ns " + Count(end.size()) + ", losses " +
                    Count(ran.losses.size()));
  }
  const auto negative = [](std::int64_t time) { return time < 0; };
  if (std::any_of(begin.begin(), begin.end(), negative) ||
      std::any_of(end.begin(), end.end(), negative)) {
    reply->Fail(FailureKind::kWrongResult, "a time is negative; times must be CLOCK_MONOTONIC");
  }
  CheckCounts(*reply, asked, expected, steps);
  if (auto fault = reply->fault()) return std::move(*fault);
  ran.records.reserve(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ran.records.push_back({static_cast<std::uint32_t>(steps[i]), begin[i], end[i]});
  }
  return ran;
}

Outcome<Observed> ParseObserved(std::string_view line, std::int64_t id,
                                const ObserverRequest& asked) {
  auto reply = Reply::Parse(line, id, "observed");
  if (!reply.ok()) return reply.failure();
  Observed observed;
  observed.order = reply->Text("order");
  observed.bare_ns = BlockTimes(*reply, "bare_ns", asked.blocks);
  observed.protocol_ns = BlockTimes(*reply, "protocol_ns", asked.blocks);
  const auto bare = std::count(observed.order.begin(), observed.order.end(), 'b');
  const auto protocol = std::count(observed.order.begin(), observed.order.end(), 'p');
  if (bare != asked.blocks || protocol != asked.blocks ||
      bare + protocol != std::ssize(observed.order)) {
    reply->Fail(FailureKind::kProtocolError,
                "'order' must hold 'b' and 'p' " + std::to_string(asked.blocks) + " times each");
  }
  if (auto fault = reply->fault()) return std::move(*fault);
  return observed;
}

Outcome<Exported> ParseExported(std::string_view line, std::int64_t id,
                                const Expectation& expected) {
  auto reply = Reply::Parse(line, id, "exported");
  if (!reply.ok()) return reply.failure();
  Exported exported;
  exported.weights = FileInside(*reply, expected.folder, "weights", reply->Text("weights"));
  exported.velocity = OptionalFile(*reply, expected.folder, "velocity");
  if (expected.momentum && !exported.velocity) {
    reply->Fail(FailureKind::kProtocolError,
                "the optimiser has momentum, but there is no 'velocity'");
  }
  if (auto fault = reply->fault()) return std::move(*fault);
  return exported;
}

Outcome<Finished> ParseFinished(std::string_view line, std::int64_t id) {
  auto reply = Reply::Parse(line, id, "finished");
  if (!reply.ok()) return reply.failure();
  Finished finished;
  finished.peak_memory_bytes =
      static_cast<std::uint64_t>(reply->OptionalInteger("peak_memory_bytes", 0));
  finished.parameter_checksum = reply->Text("parameter_checksum");
  finished.effective_settings = reply->TextMap("effective_settings");
  if (auto fault = reply->fault()) return std::move(*fault);
  return finished;
}

std::optional<Failure> ParsePlain(std::string_view line, std::int64_t id, const std::string& type) {
  auto reply = Reply::Parse(line, id, type);
  return reply.ok() ? reply->fault() : reply.failure();
}

}  // namespace dlbench::worker
