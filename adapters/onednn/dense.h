#pragma once

#include <memory>
#include <string>

#include "activation.h"
#include "layer.h"

namespace dlbench::onednn {

/// The layout that kAuto stands for. A rule and no trial run, so that every launch of a
/// configuration computes in the same way; README.md has the measurements behind it.
WeightLayout LayoutFor(Preset preset, std::int64_t batch);

/// y = x W' + b, W being [units, input width]; with `fused`, its function is applied to the result
/// within the product.
class DenseLayer : public Layer {
 public:
  DenseLayer(const Context& context, const LayerSpec& spec, const SgdRule& sgd, Activation fused,
             const LayerMatrices& matrices);

  void Forward(const Context& context) override;
  void Backward(const Context& context) override;
  std::vector<PrimitiveCall*> calls() override;
  void Describe(std::map<std::string, std::string>& settings) const override;

 private:
  std::string name_;
  std::string layout_;  ///< Of the weights, in words.
  PrimitiveCall forward_;
  PrimitiveCall backward_data_;  ///< Empty where no gradient of the input is needed.
  PrimitiveCall backward_weights_;
};

}  // namespace dlbench::onednn
