#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/network.h"

namespace dlbench::network {

/// Work of one node for one sample, float32.
struct NodeCost {
  std::string name;
  std::string op;
  Shape output_shape;
  std::int64_t parameters = 0;
  std::int64_t multiply_adds = 0;     ///< Forward, per sample.
  std::int64_t activation_bytes = 0;  ///< Of the output, per sample.
  std::int64_t parameter_bytes = 0;
  bool input_needs_gradient = false;  ///< False for nodes fed by the data alone.
};

/// Cost of every node in execution order.
std::vector<NodeCost> Costs(const Network& network);
/// Multiply-adds of one forward pass of one sample.
std::int64_t ForwardMultiplyAdds(const Network& network);
/// Floating-point operations of one training step: 2 * batch * (3 * MAC - MAC of the layers whose
/// input needs no gradient); no adapter computes the gradient of the data.
std::int64_t TrainingStepFlops(const Network& network, std::int64_t batch);

}  // namespace dlbench::network
