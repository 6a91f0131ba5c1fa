#pragma once

#include "../dnnl_compat.h"
#include "layer.h"

namespace dlbench::onednn {

/// max_pool2d, avg_pool2d and global_avg_pool. Rows and columns that only a ceil-mode window
/// reaches become padding at the end.
class PoolingLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  void ReadAttributes(const Planner& plan);
  dnnl::algorithm AverageAlgorithm(const adapter::Node& node, bool overhangs) const;

  compat::Window window_;
  dnnl::algorithm algorithm_ = dnnl::algorithm::pooling_max;
  dnnl::memory::dims destination_;
  dnnl::pooling_forward::primitive_desc forward_;
  Tensor x_, workspace_;
};

}  // namespace dlbench::onednn
