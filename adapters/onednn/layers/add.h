#pragma once

#include "layer.h"

namespace dlbench::onednn {

/// y = a + b, with a following relu in the same pass. Both inputs get the output's gradient itself.
class AddLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;
};

}  // namespace dlbench::onednn
