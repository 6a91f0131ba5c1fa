#pragma once

#include "layer.h"

namespace dlbench::onednn {

/// relu, sigmoid, tanh: y = f(x) elementwise. The gradient comes from y, so that x may be
/// overwritten. Where the layer before it applies the function itself, only the gradient is left,
/// and after a batch norm, whose gradient has the relu's in it, nothing.
class ActivationLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  dnnl::eltwise_forward::primitive_desc forward_;
};

}  // namespace dlbench::onednn
