#pragma once

#include "layer.h"

namespace dlbench::onednn {

/// [C, H, W] -> [C*H*W]. Where only dense layers follow, the bytes stay as they are and the dense
/// layers order their weights likewise; else the image is reordered to plain NCHW.
class FlattenLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  dnnl::memory::desc image_;  ///< The layout of the bytes that are passed on.
};

}  // namespace dlbench::onednn
