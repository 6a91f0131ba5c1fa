#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dlbench_adapter.h"

namespace dlbench::libtorch {

namespace sdk = dlbench::adapter;
namespace F = torch::nn::functional;

using Tensors = std::vector<torch::Tensor>;
/// By what their canonical names end with: "weight", "running_mean".
using NamedTensors = std::map<std::string, torch::Tensor>;

/// What a layer is made for beside its node.
struct Surroundings {
  const sdk::Spec& spec;
  sdk::Shape input_shape;  ///< Of one sample of the node's first input.
};

/// One node of the network at work.
class Layer {
 public:
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  /// The node's output, [batch, output_shape...].
  virtual torch::Tensor Forward(const Tensors& inputs) = 0;
  /// Called before a step on batch `index` of the pool.
  virtual void Select(std::int64_t /*index*/) {}
  /// Trainable tensors.
  virtual NamedTensors Parameters() const { return {}; }
  /// Tensors kept from step to step, as they are now.
  virtual NamedTensors Buffers() const { return {}; }
  /// Buffers as at first.
  virtual void Reset(const sdk::Node& node) {
    for (auto& [suffix, tensor] : Buffers()) tensor.fill_(node.FindBuffer(suffix)->initial);
  }
};

/// A layer without tensors of its own.
class FunctionLayer final : public Layer {
 public:
  using Function = std::function<torch::Tensor(const Tensors&)>;
  explicit FunctionLayer(Function function) : function_(std::move(function)) {}
  torch::Tensor Forward(const Tensors& inputs) override { return function_(inputs); }

 private:
  Function function_;
};

/// A module of torch::nn with a weight and perhaps a bias, after an optional padding.
template <class Module>
class ModuleLayer final : public Layer {
 public:
  explicit ModuleLayer(Module module, F::PadFuncOptions padding = F::PadFuncOptions({}))
      : module_(std::move(module)), padding_(std::move(padding)) {}
  torch::Tensor Forward(const Tensors& inputs) override {
    if (padding_.pad().empty()) return module_->forward(inputs[0]);
    return module_->forward(F::pad(inputs[0], padding_));
  }
  NamedTensors Parameters() const override {
    NamedTensors result;
    for (const auto& item : module_->named_parameters()) result[item.key()] = item.value();
    return result;
  }
  NamedTensors Buffers() const override {
    NamedTensors result;
    for (const auto& item : module_->named_buffers()) {
      if (item.key() == "running_mean") result["running_mean"] = item.value();
      if (item.key() == "running_var") result["running_variance"] = item.value();
    }
    return result;
  }

 private:
  Module module_;
  F::PadFuncOptions padding_;
};

using LayerMaker = std::function<std::unique_ptr<Layer>(const sdk::Node&, const Surroundings&)>;

/// A maker of layers that apply `function` and need nothing of their node.
inline LayerMaker Always(FunctionLayer::Function function) {
  return [function](const sdk::Node& /*node*/, const Surroundings& /*around*/) {
    return std::make_unique<FunctionLayer>(function);
  };
}

}  // namespace dlbench::libtorch
