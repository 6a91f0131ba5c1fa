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
    description.ops = {"dense"};
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
    return {spec.batch, "float32", spec.threads, {{"b", "2"}, {"a", "1"}}};
  }

  void Reset() override {
    for (const sdk::Parameter* parameter : spec_->network.Parameters()) {
      values_[parameter->name].assign(parameter->initial, parameter->initial + parameter->count);
      velocities_[parameter->name].assign(parameter->count, 0.0F);
    }
  }

  /// Logits are the bias alone, so the gradient of the loss is softmax - frequency.
  void Step(std::int64_t batch, double learning_rate) override {
    std::vector<float>& bias = values_["fc1.bias"];
    std::vector<float>& velocity = velocities_["fc1.bias"];
    logits_.clear();
    for (std::int64_t i = 0; i < spec_->batch; ++i) {
      logits_.insert(logits_.end(), bias.begin(), bias.end());
    }
    std::vector<double> exponentials, gradient;
    double sum = 0.0;
    for (const float value : bias) exponentials.push_back(std::exp(static_cast<double>(value)));
    for (const double value : exponentials) sum += value;
    for (const double value : exponentials) gradient.push_back(value / sum);
    const auto samples = static_cast<double>(spec_->batch);
    loss_ = 0.0;
    for (std::int64_t i = 0; i < spec_->batch; ++i) {
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
  bool KeepsVelocity(const sdk::Spec& /*spec*/) const override { return true; }
  void ReadVelocity(const sdk::Parameter& parameter, float* out) override {
    const std::vector<float>& values = velocities_[parameter.name];
    std::copy(values.begin(), values.end(), out);
  }
  std::int64_t PeakMemoryBytes() override { return 4096; }

 private:
  const sdk::Spec* spec_ = nullptr;
  std::map<std::string, std::vector<float>> values_, velocities_;
  std::vector<float> logits_, gradient_;
  double loss_ = 0.0;
};

}  // namespace

int main() {
  MinimalAdapter adapter;
  return sdk::Serve(adapter);
}
