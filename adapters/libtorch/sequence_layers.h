#pragma once

#include <optional>
#include <tuple>

#include "layer.h"

namespace dlbench::libtorch {

inline std::unique_ptr<Layer> MakeDense(const sdk::Node& node, const Surroundings& /*around*/) {
  const sdk::Shape& weight = node.Find("weight")->shape;
  return std::make_unique<ModuleLayer<torch::nn::Linear>>(torch::nn::Linear(
      torch::nn::LinearOptions(weight.at(1), weight.at(0)).bias(node.Find("bias") != nullptr)));
}

inline std::unique_ptr<Layer> MakeEmbedding(const sdk::Node& node, const Surroundings& /*around*/) {
  const sdk::Shape& weight = node.Find("weight")->shape;
  return std::make_unique<ModuleLayer<torch::nn::Embedding>>(
      torch::nn::Embedding(weight.at(0), weight.at(1)));
}

/// torch::nn::LSTM, whose gates are in our order (i, f, g, o). It has two biases where we have one:
/// the second stays zero.
class LstmLayer final : public Layer {
 public:
  LstmLayer(std::int64_t inputs, std::int64_t units, bool carried)
      : lstm_(torch::nn::LSTMOptions(inputs, units).batch_first(true)), carried_(carried) {
    const torch::NoGradGuard no_gradient;
    torch::Tensor second_bias = lstm_->named_parameters()["bias_hh_l0"];
    second_bias.zero_();
    second_bias.set_requires_grad(false);
  }

  torch::Tensor Forward(const Tensors& inputs) override {
    using State = std::tuple<torch::Tensor, torch::Tensor>;
    std::optional<State> before;
    if (carried_) before = State(hidden_.unsqueeze(0), cell_.unsqueeze(0));
    auto [output, after] = lstm_->forward(inputs[0], before);
    if (carried_) {  // No gradient goes through the state into the batch before.
      hidden_ = std::get<0>(after).detach()[0];
      cell_ = std::get<1>(after).detach()[0];
    }
    return output;
  }
  NamedTensors Parameters() const override {
    auto parameters = lstm_->named_parameters();
    return {{"weight_ih", parameters["weight_ih_l0"]},
            {"weight_hh", parameters["weight_hh_l0"]},
            {"bias", parameters["bias_ih_l0"]}};
  }
  NamedTensors Buffers() const override {
    if (!carried_) return {};
    return {{"hidden", hidden_}, {"cell", cell_}};
  }
  /// The tensors of the step before may belong to its graph, so these are new.
  void Reset(const sdk::Node& node) override {
    if (!carried_) return;
    const sdk::Buffer& hidden = *node.FindBuffer("hidden");
    const sdk::Buffer& cell = *node.FindBuffer("cell");
    hidden_ = torch::full(hidden.shape, hidden.initial);
    cell_ = torch::full(cell.shape, cell.initial);
  }

 private:
  torch::nn::LSTM lstm_;
  bool carried_;
  torch::Tensor hidden_, cell_;  ///< [batch, units].
};

inline std::unique_ptr<Layer> MakeLstm(const sdk::Node& node, const Surroundings& around) {
  const std::string state = node.Text("state");
  if (state != "reset" && state != "carried") {
    throw sdk::Unsupported("node " + node.name + ": state " + state + " is not known");
  }
  return std::make_unique<LstmLayer>(around.input_shape.back(), node.Integer("units"),
                                     state == "carried");
}

/// Dropout with masks that are given: 0 or 1 / (1 - probability), as torch's own has them inside.
class DropoutLayer final : public Layer {
 public:
  DropoutLayer(const sdk::Node& node, const sdk::Spec& spec) {
    sdk::Shape shape = {spec.batch};
    shape.insert(shape.end(), node.output_shape.begin(), node.output_shape.end());
    for (std::int64_t i = 0; i < spec.pool; ++i) {
      auto* bytes = const_cast<std::uint8_t*>(spec.MaskAt(node, i));
      const torch::Tensor mask = torch::from_blob(bytes, shape, torch::kUInt8);
      masks_.push_back(mask.to(torch::kFloat32) / (1.0 - node.Real("probability")));
    }
  }
  torch::Tensor Forward(const Tensors& inputs) override { return inputs[0] * masks_[selected_]; }
  void Select(std::int64_t index) override { selected_ = static_cast<std::size_t>(index); }

 private:
  Tensors masks_;  ///< Of each batch of the pool.
  std::size_t selected_ = 0;
};

inline std::unique_ptr<Layer> MakeDropout(const sdk::Node& node, const Surroundings& around) {
  return std::make_unique<DropoutLayer>(node, around.spec);
}

}  // namespace dlbench::libtorch
