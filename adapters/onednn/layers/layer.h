#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../planner.h"

namespace dlbench::onednn {

/// Plans one node's part of a step. It computes nothing itself and lives as long as the actions.
class Layer {
 public:
  virtual ~Layer() = default;
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  /// Makes the node's parameters and output and the actions that compute the output.
  virtual void PlanForward(Planner& plan) = 0;
  /// The actions from the gradient of the output to those of the parameters and of each input
  /// that the planner wants.
  virtual void PlanBackward(Planner& plan) = 0;
};

/// The layer for node `node`. Throws adapter::Unsupported for an op that is not built.
std::unique_ptr<Layer> MakeLayer(const adapter::Node& node);
/// All ops that MakeLayer knows.
std::vector<std::string> BuiltOps();

/// oneDNN's algorithm for `activation`, whose derivative needs the result only.
dnnl::algorithm EltwiseAlgorithm(Activation activation);
/// The context's attributes with `fused` applied to the result.
dnnl::primitive_attr FusedAttributes(const Context& context, Activation fused);

}  // namespace dlbench::onednn
