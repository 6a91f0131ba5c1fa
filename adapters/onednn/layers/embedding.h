#pragma once

#include "layer.h"

namespace dlbench::onednn {

/// Tokens [T] -> the rows [T, units] of the weight [vocabulary, units]. The gradient is summed in
/// the order of time and sample, whatever the number of threads.
class EmbeddingLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  void Gather(const std::int32_t* tokens, float* y) const;
  void Scatter(const std::int32_t* tokens, const float* gradient);

  std::int64_t length_ = 0, batch_ = 0, units_ = 0;
  int threads_ = 1;
  Parameter* weight_ = nullptr;
  std::vector<std::int32_t> touched_;  ///< Rows of the gradient that the last step wrote.
};

}  // namespace dlbench::onednn
