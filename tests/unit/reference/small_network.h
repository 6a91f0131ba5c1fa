#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/random.h"
#include "network/network.h"
#include "reference/engine.h"

namespace dlbench::reference {

/// Appends a dense node; parameters "<name>.weight" and, with a bias, "<name>.bias".
inline void AddDense(network::Network& network, const std::string& name, const std::string& input,
                     std::int64_t inputs, std::int64_t units, const bool bias = true) {
  network::Node node;
  node.name = name;
  node.op = "dense";
  node.inputs = {input};
  node.attributes = {{"units", units}, {"bias", bias}};
  node.output_shape = {units};
  node.parameters.push_back({name + ".weight", {units, inputs}, {}, true});
  if (bias) node.parameters.push_back({name + ".bias", {units}, {}, false});
  network.nodes.push_back(node);
}

/// Appends a node of `op` without parameters.
inline void AddActivation(network::Network& network, const std::string& name, const std::string& op,
                          const std::string& input, std::int64_t size) {
  network::Node node;
  node.name = name;
  node.op = op;
  node.inputs = {input};
  node.output_shape = {size};
  network.nodes.push_back(node);
}

/// inputs -> dense(hidden) -> op -> dense(classes), mean cross entropy, plain SGD.
inline network::Network SmallNetwork(const std::string& op, std::int64_t inputs,
                                     std::int64_t hidden, std::int64_t classes) {
  network::Network network;
  network.name = "small-" + op;
  network.input.shape = {inputs};
  network.classes = classes;
  AddDense(network, "fc1", "input", inputs, hidden);
  AddActivation(network, "act", op, "fc1", hidden);
  AddDense(network, "fc2", "act", hidden, classes);
  network.loss.input = "fc2";
  network.optimizer.learning_rate = 0.1;
  return network;
}

/// `count` uniform values in (-bound, bound) that depend on the name alone.
inline std::vector<float> Uniform(const std::string& name, std::size_t count, double bound) {
  std::vector<float> values(count);
  data::NamedStream(11, name).FillUniform(values, bound);
  return values;
}

/// Uniform weights in (-bound, bound) for every parameter, velocities zero.
inline State SmallState(const network::Network& network, double bound) {
  std::map<std::string, std::vector<float>> weights;
  for (const auto* parameter : network.Parameters()) {
    const auto count = static_cast<std::size_t>(network::ElementCount(parameter->shape));
    weights[parameter->name] = Uniform(parameter->name, count, bound);
  }
  return StateFrom(weights);
}

/// Labels 0, 1, ... classes - 1, 0, 1 ...
inline std::vector<std::int32_t> RoundLabels(std::int64_t batch, std::int64_t classes) {
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < batch; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % classes));
  }
  return labels;
}

}  // namespace dlbench::reference
