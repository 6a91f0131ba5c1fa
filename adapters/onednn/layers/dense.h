#pragma once

#include "layer.h"
#include "product.h"

namespace dlbench::onednn {

/// y = x W' + b over the last dimension, W being [units, inputs]; a following activation is applied
/// to the result within the product.
class DenseLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  Product product_;
  Tensor x_;  ///< [rows, inputs].
};

}  // namespace dlbench::onednn
