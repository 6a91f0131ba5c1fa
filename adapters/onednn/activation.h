#pragma once

#include <string>

#include "layer.h"

namespace dlbench::onednn {

/// y = f(x) elementwise; the gradient comes from y, so that x may be overwritten (input and output
/// may be one matrix, and so may the two gradients).
class ActivationLayer : public Layer {
 public:
  /// Who computes y: this layer, or the dense layer before it within its product.
  enum class Forwards { kHere, kInProduct };

  ActivationLayer(const Context& context, std::string name, Activation activation,
                  Forwards forwards, const LayerMatrices& matrices);

  void Forward(const Context& context) override;
  void Backward(const Context& context) override;
  std::vector<PrimitiveCall*> calls() override;
  void Describe(std::map<std::string, std::string>& settings) const override;

 private:
  std::string name_;
  PrimitiveCall forward_;   ///< Empty for kInProduct.
  PrimitiveCall backward_;  ///< Empty where no gradient of the input is needed.
};

}  // namespace dlbench::onednn
