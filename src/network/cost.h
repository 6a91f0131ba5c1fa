#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/network.h"

namespace dlbench::network {

/// Work of one node for one sample (of a network of tokens: one sequence), float32. Numbers that do
/// not fit are the largest integer.
struct NodeCost {
  std::string name;
  std::string op;
  Shape output_shape;
  std::int64_t parameters = 0;
  /// Forward. Products of matrices and convolutions only: what pools, activations, normalisations,
  /// embeddings and biases add is not counted.
  std::int64_t multiply_adds = 0;
  /// Backward: once more for the gradient of the weights, and once more for that of the input
  /// where it is needed.
  std::int64_t backward_multiply_adds = 0;
  std::int64_t activation_bytes = 0;  ///< Of the output.
  std::int64_t parameter_bytes = 0;
  /// Least traffic with memory, forward: the inputs are read, the output is written. Parameters are
  /// apart, since a batch shares them; of an embedding only the rows looked up are read, here.
  std::int64_t forward_bytes = 0;
  /// Backward: the gradient of the output and the inputs are read, the gradients of those inputs
  /// that need one are written. 0 where nothing in or before the node is trained.
  std::int64_t backward_bytes = 0;
  bool input_needs_gradient = false;  ///< False for nodes fed by the data alone.
};

/// Cost of every node in execution order.
std::vector<NodeCost> Costs(const Network& network);
/// Multiply-adds of one forward pass of one sample.
std::int64_t ForwardMultiplyAdds(const Network& network);
/// Floating-point operations of one training step: 2 * batch * (3 * MAC - MAC of the layers whose
/// input needs no gradient, as far as they serve that gradient); no adapter computes the gradient
/// of the data.
std::int64_t TrainingStepFlops(const Network& network, std::int64_t batch);
/// Tokens of one sample: T for an input of tokens [T], 0 for values.
std::int64_t TokensPerSample(const Network& network);

}  // namespace dlbench::network
