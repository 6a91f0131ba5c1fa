#pragma once

#include "../dnnl_compat.h"
#include "layer.h"

namespace dlbench::onednn {

/// conv2d, with a following activation in the same primitive. Every primitive chooses its layouts;
/// the preset `recommended` stores the weights as the forward one does, `default` as in the files.
class ConvolutionLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  void ReadAttributes(const Planner& plan);
  void MakeParameters(Planner& plan, const dnnl::memory::desc& preferred);
  void PlanBackwardData(Planner& plan, const Tensor& gradient) const;
  void PlanBackwardWeights(Planner& plan, const Tensor& gradient) const;
  const dnnl::memory::desc* bias_desc() const { return has_bias_ ? &bias_desc_ : nullptr; }

  compat::Window window_;
  dnnl::memory::dims source_, destination_, weights_;  ///< With groups: weights [g, o, i, h, w].
  adapter::Shape weight_shape_;
  bool has_bias_ = false;
  dnnl::memory::desc bias_desc_;
  dnnl::convolution_forward::primitive_desc forward_;
  Tensor x_;  ///< The input as the forward primitive wants it.
  Parameter* weight_ = nullptr;
  Parameter* bias_ = nullptr;
};

}  // namespace dlbench::onednn
