#include <nlohmann/json.hpp>

#include "network/parse.h"

namespace dlbench::network {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const AttributeValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json ToJson(const Node& node) {
  Json attributes = Json::object();
  for (const auto& [name, value] : node.attributes) attributes[name] = ToJson(value);
  Json parameters = Json::array();
  for (const Parameter& parameter : node.parameters) {
    parameters.push_back(
        {{"name", parameter.name}, {"shape", parameter.shape}, {"decays", parameter.decays}});
  }
  Json buffers = Json::array();
  for (const Buffer& buffer : node.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"shape", buffer.shape},
                       {"initial", buffer.initial},
                       {"per_sample", buffer.per_sample}});
  }
  return {{"name", node.name},
          {"op", node.op},
          {"inputs", node.inputs},
          {"attributes", attributes},
          {"output_shape", node.output_shape},
          {"parameters", parameters},
          {"buffers", buffers}};
}

Json ToJson(const Input& input) {
  Json json = {{"kind", input.kind == Input::Kind::kTokens ? "tokens" : "values"},
               {"shape", input.shape}};
  if (input.kind == Input::Kind::kTokens) json["vocabulary"] = input.vocabulary;
  return json;
}

}  // namespace

std::string ToProtocolJson(const Network& network) {
  Json nodes = Json::array();
  for (const Node& node : network.nodes) nodes.push_back(ToJson(node));
  const Optimizer& optimizer = network.optimizer;
  const Json json = {{"name", network.name},
                     {"variant", network.variant},
                     {"classes", network.classes},
                     {"input", ToJson(network.input)},
                     {"nodes", nodes},
                     {"loss",
                      {{"kind", network.loss.kind},
                       {"reduction", network.loss.reduction},
                       {"input", network.loss.input}}},
                     {"optimizer",
                      {{"kind", optimizer.kind},
                       {"learning_rate", optimizer.learning_rate},
                       {"momentum", optimizer.momentum},
                       {"weight_decay", optimizer.weight_decay},
                       {"nesterov", optimizer.nesterov}}}};
  // Names from files are ASCII; a network built by hand may hold anything.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dlbench::network
