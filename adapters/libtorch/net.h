#pragma once

#include <algorithm>

#include "image_layers.h"
#include "layer.h"
#include "sequence_layers.h"

namespace dlbench::libtorch {

/// Every op of docs/networks.md that torch does exactly.
inline const std::map<std::string, LayerMaker>& LayerMakers() {
  static const std::map<std::string, LayerMaker> makers = {
      {"add", Always([](const Tensors& inputs) { return inputs[0] + inputs[1]; })},
      {"avg_pool2d", MakeAvgPool2d},
      {"batch_norm", MakeBatchNorm},
      {"conv2d", MakeConv2d},
      {"dense", MakeDense},
      {"dropout", MakeDropout},
      {"embedding", MakeEmbedding},
      {"flatten", Always([](const Tensors& inputs) { return inputs[0].flatten(1); })},
      {"global_avg_pool",
       Always([](const Tensors& inputs) { return torch::adaptive_avg_pool2d(inputs[0], 1); })},
      {"lrn", MakeLrn},
      {"lstm", MakeLstm},
      {"max_pool2d", MakeMaxPool2d},
      {"relu", Always([](const Tensors& inputs) { return torch::relu(inputs[0]); })},
      {"sigmoid", Always([](const Tensors& inputs) { return torch::sigmoid(inputs[0]); })},
      {"subsample_pad", MakeSubsamplePad},
      {"tanh", Always([](const Tensors& inputs) { return torch::tanh(inputs[0]); })}};
  return makers;
}

/// The network's nodes in execution order; a node reads the outputs of earlier ones.
class Net {
 public:
  /// `spec` must outlive the net.
  explicit Net(const sdk::Spec& spec) : network_(&spec.network) {
    std::map<std::string, std::size_t> places{{"input", 0}};
    std::map<std::string, sdk::Shape> shapes{{"input", network_->input_shape}};
    for (const sdk::Node& node : network_->nodes) {
      const Surroundings around{spec, shapes.at(node.inputs.at(0))};
      layers_.push_back(LayerMakers().at(node.op)(node, around));
      std::vector<std::size_t> sources;
      for (const std::string& name : node.inputs) sources.push_back(places.at(name));
      sources_.push_back(std::move(sources));
      places[node.name] = layers_.size();
      shapes[node.name] = node.output_shape;
    }
    output_ = places.at(network_->loss.input);
    FindLastReads();
  }

  /// Logits of `x`, batch `index` of the pool.
  torch::Tensor Forward(const torch::Tensor& x, std::int64_t index) {
    Tensors values(layers_.size() + 1);
    values[0] = x;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Tensors inputs;
      for (const std::size_t source : sources_[i]) inputs.push_back(values[source]);
      layers_[i]->Select(index);
      values[i + 1] = layers_[i]->Forward(inputs);
      for (const std::size_t place : last_reads_[i]) values[place].reset();
    }
    return values[output_];
  }

  /// Parameters by canonical name.
  NamedTensors Parameters() const {
    NamedTensors result;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (const auto& [suffix, tensor] : layers_[i]->Parameters()) {
        result[network_->nodes[i].name + "." + suffix] = tensor;
      }
    }
    return result;
  }
  /// Buffers by canonical name, as they are now.
  NamedTensors Buffers() const {
    NamedTensors result;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (const auto& [suffix, tensor] : layers_[i]->Buffers()) {
        result[network_->nodes[i].name + "." + suffix] = tensor;
      }
    }
    return result;
  }
  void ResetBuffers() {
    for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i]->Reset(network_->nodes[i]);
  }

 private:
  /// The values that nothing reads after a node are dropped, as in a program written out, so that
  /// memory is held by the backward pass alone.
  void FindLastReads() {
    std::map<std::size_t, std::size_t> last;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      for (const std::size_t source : sources_[i]) last[source] = i;
    }
    last_reads_.resize(layers_.size());
    for (const auto& [place, node] : last) {
      if (place != output_) last_reads_[node].push_back(place);
    }
  }

  const sdk::Network* network_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::vector<std::size_t>> sources_;
  std::vector<std::vector<std::size_t>> last_reads_;
  std::size_t output_ = 0;
};

}  // namespace dlbench::libtorch
