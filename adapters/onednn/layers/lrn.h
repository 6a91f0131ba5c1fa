#pragma once

#include "../dnnl_compat.h"
#include "layer.h"

namespace dlbench::onednn {

/// y = x / (k + alpha / size * sum of x^2 over the `size` channels around it)^beta; oneDNN's
/// convention is the same.
class LrnLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  compat::Lrn lrn_;
  dnnl::lrn_forward::primitive_desc forward_;
  Tensor workspace_;
};

}  // namespace dlbench::onednn
