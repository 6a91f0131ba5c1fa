// A complete adapter: one dense layer, softmax cross-entropy, SGD, in plain C++.
// A real adapter has its framework's layers and optimiser where this one has loops.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dlbench_adapter.h"

namespace {

namespace sdk = dlbench::adapter;

class OneDenseLayer final : public sdk::Adapter {
 public:
  sdk::Description Describe() override {
    sdk::Description description;
    description.framework = "example-c++";
    description.framework_version = "1.0";
    description.mode_label = {{"default", "plain"}};
    description.ops = {"dense"};
    return description;
  }

  sdk::Prepared Prepare(const sdk::Spec& spec) override {
    const sdk::Network& network = spec.network;
    if (network.nodes.size() != 1 || !network.nodes[0].Bool("bias")) {
      throw sdk::Unsupported("only one dense layer with a bias is built");
    }
    if (network.loss.reduction != "mean" || network.optimizer.nesterov || spec.threads != 1) {
      throw sdk::Unsupported("only the mean, plain momentum and one thread are built");
    }
    spec_ = &spec;
    for (const sdk::Parameter* parameter : network.Parameters()) {
      tensors_[parameter->name].parameter = parameter;
    }
    weight_ = &tensors_[network.nodes[0].Find("weight")->name];
    bias_ = &tensors_[network.nodes[0].Find("bias")->name];
    Reset();
    return {spec.batch, "float32", 1, {}};
  }

  void Reset() override {
    for (auto& [name, tensor] : tensors_) {
      const sdk::Parameter& parameter = *tensor.parameter;
      tensor.value.assign(parameter.initial, parameter.initial + parameter.count);
      tensor.gradient.assign(parameter.count, 0.0F);
      tensor.velocity.assign(parameter.count, 0.0F);
    }
  }

  void Step(std::int64_t batch, double learning_rate) override {
    const sdk::Batch data = spec_->At(batch);
    for (auto& [name, tensor] : tensors_)
      std::fill(tensor.gradient.begin(), tensor.gradient.end(), 0.0F);
    logits_.clear();
    loss_ = 0.0;
    for (std::int64_t row = 0; row < spec_->batch; ++row) {
      TakeSample(data.x + row * spec_->sample_size, data.labels[row]);
    }
    for (auto& [name, tensor] : tensors_) Update(tensor, static_cast<float>(learning_rate));
  }

  double Loss() override { return loss_; }
  void ReadLogits(float* out) override { std::copy(logits_.begin(), logits_.end(), out); }
  void ReadGradient(const sdk::Parameter& parameter, float* out) override {
    Copy(tensors_[parameter.name].gradient, out);
  }
  void ReadWeight(const sdk::Parameter& parameter, float* out) override {
    Copy(tensors_[parameter.name].value, out);
  }
  void ReadVelocity(const sdk::Parameter& parameter, float* out) override {
    Copy(tensors_[parameter.name].velocity, out);
  }

 private:
  struct Tensor {
    const sdk::Parameter* parameter = nullptr;
    std::vector<float> value, gradient, velocity;
  };

  static void Copy(const std::vector<float>& values, float* out) {
    std::copy(values.begin(), values.end(), out);
  }

  void TakeSample(const float* x, std::int32_t label) {
    const std::size_t width = static_cast<std::size_t>(spec_->sample_size);
    const std::size_t classes = bias_->value.size();
    const auto batch = static_cast<float>(spec_->batch);
    std::vector<float> probability(classes);
    for (std::size_t i = 0; i < classes; ++i) {
      probability[i] = bias_->value[i];
      for (std::size_t j = 0; j < width; ++j)
        probability[i] += weight_->value[i * width + j] * x[j];
    }
    logits_.insert(logits_.end(), probability.begin(), probability.end());
    const float largest = *std::max_element(probability.begin(), probability.end());
    float sum = 0.0F;
    for (float& value : probability) sum += value = std::exp(value - largest);
    for (float& value : probability) value /= sum;
    const auto right = static_cast<std::size_t>(label);
    loss_ -= std::log(static_cast<double>(probability[right])) / static_cast<double>(batch);
    for (std::size_t i = 0; i < classes; ++i) {
      const float delta = (probability[i] - (i == right ? 1.0F : 0.0F)) / batch;
      bias_->gradient[i] += delta;
      for (std::size_t j = 0; j < width; ++j) weight_->gradient[i * width + j] += delta * x[j];
    }
  }

  void Update(Tensor& tensor, float learning_rate) const {
    const sdk::Optimizer& sgd = spec_->network.optimizer;
    const auto momentum = static_cast<float>(sgd.momentum);
    const float decay = tensor.parameter->decays ? static_cast<float>(sgd.weight_decay) : 0.0F;
    for (std::size_t i = 0; i < tensor.value.size(); ++i) {
      tensor.velocity[i] =
          momentum * tensor.velocity[i] + tensor.gradient[i] + decay * tensor.value[i];
      tensor.value[i] -= learning_rate * tensor.velocity[i];
    }
  }

  const sdk::Spec* spec_ = nullptr;
  std::map<std::string, Tensor> tensors_;
  Tensor* weight_ = nullptr;
  Tensor* bias_ = nullptr;
  std::vector<float> logits_;
  double loss_ = 0.0;
};

}  // namespace

int main() {
  OneDenseLayer adapter;
  return sdk::Serve(adapter);
}
