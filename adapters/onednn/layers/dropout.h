#pragma once

#include "layer.h"

namespace dlbench::onednn {

/// y = x * mask / (1 - probability) with the masks of the batches; the gradient likewise.
class DropoutLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  void PlanMask(Planner& plan, const Tensor& from, const Tensor& to) const;
};

}  // namespace dlbench::onednn
