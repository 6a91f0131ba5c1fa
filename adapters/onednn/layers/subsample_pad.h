#pragma once

#include "layer.h"

namespace dlbench::onednn {

/// Every stride-th row and column of each channel, with channels of zeros before and after.
class SubsamplePadLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  /// Where element (n, c, h, w) of an image lies, in floats.
  struct Place {
    std::int64_t sample, row, column;  ///< Strides.
    std::vector<std::int64_t> channel;
  };
  static Place PlaceOf(const dnnl::memory::desc& image);

  template <class Each>
  void ForEachRow(const Each& each) const;
  void Copy(const float* from, float* to) const;
  void CopyBack(const float* from, float* to) const;

  std::int64_t channels_ = 0, before_ = 0, stride_ = 1, batch_ = 0, rows_ = 0, columns_ = 0;
  int threads_ = 1;
  Place small_, large_;  ///< Of the output and of the input.
  std::size_t small_bytes_ = 0, large_bytes_ = 0;
  Tensor x_;
};

}  // namespace dlbench::onednn
