// The twin of minimal_adapter.py; cross_test.py holds both to the same replies.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "dlbench_adapter.h"

namespace {

namespace sdk = dlbench::adapter;

class MinimalAdapter final : public sdk::Adapter {
 public:
  sdk::Description Describe() override {
    sdk::Description description;
    description.framework = "minimal";
    description.framework_version = "1.0";
    description.ops = {"dense", "dropout", "embedding", "lstm"};
    const char* asynchronous = std::getenv("MINIMAL_ASYNCHRONOUS");
    description.asynchronous = asynchronous != nullptr && std::strcmp(asynchronous, "1") == 0;
    description.settings = {{"pace", "How fast, \xC3\xA9 and \\ and \"."}};
    return description;
  }

  sdk::Prepared Prepare(const sdk::Spec& spec) override {
    if (spec.batch == 13) throw std::bad_alloc();
    if (spec.batch == 14) {
      throw std::runtime_error("DefaultCPUAllocator: can't allocate memory");
    }
    if (spec.batch == 15) throw std::runtime_error("bad byte \xFF");
    spec_ = &spec;
    Reset();
    std::map<std::string, std::string> settings = {{"b", "2"}, {"a", "1"}};
    for (const sdk::Node& node : spec.network.nodes) {  // What else the SDK has read.
      if (node.attributes.Find("state") != nullptr) settings["state"] = node.Text("state");
      if (node.attributes.Find("padding") != nullptr) {
        settings["padding"] = sdk::ToString(node.List("padding"));
      }
    }
    return {spec.batch, "float32", spec.threads, settings};
  }

  void Reset() override {
    for (const sdk::Parameter* parameter : spec_->network.Parameters()) {
      values_[parameter->name].assign(parameter->initial, parameter->initial + parameter->count);
      velocities_[parameter->name].assign(parameter->count, 0.0F);
    }
    for (const sdk::Buffer* buffer : spec_->network.Buffers()) {
      kept_[buffer->name].assign(buffer->count, buffer->initial);
    }
  }

  /// Logits are the bias alone, so the gradient of the loss is softmax - frequency.
  void Step(std::int64_t batch, double learning_rate) override {
    std::vector<float>& bias = values_["fc1.bias"];
    std::vector<float>& velocity = velocities_["fc1.bias"];
    logits_.clear();
    const std::int64_t rows = spec_->batch * spec_->labels_per_sample;
    for (std::int64_t i = 0; i < rows; ++i) {
      logits_.insert(logits_.end(), bias.begin(), bias.end());
    }
    std::vector<double> exponentials, gradient;
    double sum = 0.0;
    for (const float value : bias) exponentials.push_back(std::exp(static_cast<double>(value)));
    for (const double value : exponentials) sum += value;
    for (const double value : exponentials) gradient.push_back(value / sum);
    const auto samples = static_cast<double>(rows);
    loss_ = 0.0;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto label = static_cast<std::size_t>(spec_->At(batch).labels[i]);
      loss_ -= std::log(exponentials[label] / sum) / samples;
      gradient[label] -= 1.0 / samples;
    }
    gradient_.assign(gradient.begin(), gradient.end());
    for (std::size_t i = 0; i < bias.size(); ++i) {
      const double momentum = spec_->network.optimizer.momentum;
      velocity[i] = static_cast<float>(momentum * velocity[i] + gradient_[i]);
      bias[i] = static_cast<float>(bias[i] - learning_rate * velocity[i]);
    }
    KeepSums(batch);
  }

  double Loss() override { return loss_; }
  void ReadLogits(float* out) override { std::copy(logits_.begin(), logits_.end(), out); }
  void ReadGradient(const sdk::Parameter& parameter, float* out) override {
    if (parameter.name == "fc1.bias") std::copy(gradient_.begin(), gradient_.end(), out);
  }
  void ReadWeight(const sdk::Parameter& parameter, float* out) override {
    const std::vector<float>& values = values_[parameter.name];
    std::copy(values.begin(), values.end(), out);
  }
  void ReadBuffer(const sdk::Buffer& buffer, float* out) override {
    const std::vector<float>& values = kept_[buffer.name];
    std::copy(values.begin(), values.end(), out);
  }
  bool KeepsVelocity(const sdk::Spec& /*spec*/) const override { return true; }
  void ReadVelocity(const sdk::Parameter& parameter, float* out) override {
    const std::vector<float>& values = velocities_[parameter.name];
    std::copy(values.begin(), values.end(), out);
  }
  std::int64_t PeakMemoryBytes() override { return 4096; }

 private:
  /// Buffers gain what is in a batch: its words, and 1000 for every one in its masks.
  void KeepSums(std::int64_t batch) {
    double total = 0.0;
    const std::int64_t words = spec_->batch * spec_->sample_size;
    if (const std::int32_t* tokens = spec_->At(batch).tokens) {
      for (std::int64_t i = 0; i < words; ++i) total += tokens[i];
    }
    for (const sdk::Node& node : spec_->network.nodes) {
      if (node.mask == nullptr) continue;
      const std::int64_t count = spec_->batch * sdk::ElementCount(node.output_shape);
      for (std::int64_t i = 0; i < count; ++i) total += 1000.0 * spec_->MaskAt(node, batch)[i];
    }
    for (auto& [name, values] : kept_) {
      (void)name;
      for (float& value : values) value = static_cast<float>(value + total);
    }
  }

  const sdk::Spec* spec_ = nullptr;
  std::map<std::string, std::vector<float>> values_, velocities_, kept_;
  std::vector<float> logits_, gradient_;
  double loss_ = 0.0;
};

}  // namespace

int main() {
  MinimalAdapter adapter;
  return sdk::Serve(adapter);
}
