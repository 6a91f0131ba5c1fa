#pragma once

#include "layer.h"

namespace dlbench::onednn {

/// Batch normalisation by the batch's own statistics, which also move the running ones; a following
/// relu is part of both primitives.
class BatchNormLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  void PlanRunning(Planner& plan);
  Tensor AsImage(Planner& plan, const Tensor& tensor) const;

  std::int64_t channels_ = 0, samples_ = 0;  ///< `samples_`: numbers behind one channel's mean.
  float epsilon_ = 0.0F;
  dnnl::memory::desc data_;  ///< [N, C, H, W], also for values [N, C].
  dnnl::normalization_flags flags_ = dnnl::normalization_flags::none;
  dnnl::batch_normalization_forward::primitive_desc forward_;
  Buffer statistics_;
  Tensor x_, mean_, variance_, workspace_;
  Parameter* scale_ = nullptr;
  Parameter* shift_ = nullptr;
};

}  // namespace dlbench::onednn
