// PyTorch's C++ front end for dlbench (docs/protocol.md), a framework of its own beside the Python
// one (case C40): the same kernels, but its own modules and optimiser. README.md explains the
// presets; net.h has the operations.

#include <sched.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dlbench_adapter.h"
#include "net.h"

namespace {

namespace sdk = dlbench::adapter;
using dlbench::libtorch::LayerMakers;
using dlbench::libtorch::Net;

/// Processors that the process may run on: importing a framework must not have shrunk this.
int AllowedProcessors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

const char* const kPinningVariables[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                         "KMP_AFFINITY"};

/// OpenMP's binding variables pin the first thread at load time, and all later ones with it.
void CheckProcessors(int threads) {
  const int allowed = AllowedProcessors();
  if (allowed >= threads) return;
  std::string why = "the process may run on " + std::to_string(allowed) + " processors but " +
                    std::to_string(threads) + " threads were asked for";
  for (const char* name : kPinningVariables) {
    if (const char* value = std::getenv(name)) why += std::string("; unset ") + name + "=" + value;
  }
  throw std::runtime_error(why);
}

/// SGD with weight decay for some parameters and none for others: two groups.
std::unique_ptr<torch::optim::SGD> MakeOptimizer(const sdk::Optimizer& sgd,
                                                 const std::vector<torch::Tensor>& decaying,
                                                 const std::vector<torch::Tensor>& others) {
  std::vector<torch::optim::OptimizerParamGroup> groups;
  const auto add = [&](const std::vector<torch::Tensor>& tensors, double decay) {
    if (tensors.empty()) return;
    auto options = std::make_unique<torch::optim::SGDOptions>(sgd.learning_rate);
    options->momentum(sgd.momentum).weight_decay(decay).nesterov(sgd.nesterov);
    groups.emplace_back(tensors, std::move(options));
  };
  add(decaying, sgd.weight_decay);
  add(others, 0.0);
  auto optimizer = std::make_unique<torch::optim::SGD>(
      groups, torch::optim::SGDOptions(sgd.learning_rate).momentum(sgd.momentum));
  if (sgd.momentum == 0.0) return optimizer;
  // With a zero buffer the first step gives what it gives with none: 0 * momentum + gradient.
  for (const auto& group : groups) {
    for (const torch::Tensor& tensor : group.params()) {
      auto state = std::make_unique<torch::optim::SGDParamState>();
      state->momentum_buffer(torch::zeros_like(tensor.detach()));
      optimizer->state()[tensor.unsafeGetTensorImpl()] = std::move(state);
    }
  }
  return optimizer;
}

void CopyOut(const torch::Tensor& tensor, float* out) {
  const torch::Tensor plain = tensor.detach().contiguous();
  TORCH_CHECK(plain.scalar_type() == torch::kFloat32, "the tensor is not float32");
  std::memcpy(out, plain.data_ptr<float>(),
              static_cast<std::size_t>(plain.numel()) * sizeof(float));
}

class LibTorchAdapter : public sdk::Adapter {
 public:
  sdk::Description Describe() override {
    sdk::Description description;
    description.framework = "libtorch";
    description.framework_version = TORCH_VERSION;
    description.mode_label = {{"default", "eager"}, {"recommended", "eager"}};
    description.build = {{"compiler", __VERSION__},
                         {"blas", at::hasMKL() ? "mkl" : "other"},
                         {"onednn", at::hasMKLDNN() ? "yes" : "no"},
                         {"openmp", at::hasOpenMP() ? "yes" : "no"},
                         {"cpu_capability", at::get_cpu_capability()}};
    description.presets = {"default", "recommended"};
    for (const auto& [op, maker] : LayerMakers()) description.ops.push_back(op);
    return description;
  }

  sdk::Prepared Prepare(const sdk::Spec& spec) override {
    CheckProcessors(spec.threads);
    at::set_num_threads(spec.threads);
    at::set_num_interop_threads(1);
    spec_ = &spec;
    net_ = std::make_unique<Net>(spec);
    TakeParameters();
    TakeBatches();
    Reset();
    sdk::Prepared prepared;
    prepared.batch = x_.at(0).size(0);
    prepared.threads = at::get_num_threads();
    prepared.effective_settings = EffectiveSettings();
    return prepared;
  }

  void Reset() override {
    const torch::NoGradGuard no_gradient;
    for (const auto& [parameter, tensor] : tensors_) {
      tensor.detach().copy_(initial_.at(parameter->name));
      tensor.mutable_grad().reset();
      if (!spec_->network.optimizer.momentum) continue;
      Velocity(tensor).zero_();
    }
    net_->ResetBuffers();
  }

  void Step(std::int64_t batch, double learning_rate) override {
    if (learning_rate != learning_rate_) SetLearningRate(learning_rate);
    const auto index = static_cast<std::size_t>(batch);
    optimizer_->zero_grad();
    logits_ = net_->Forward(x_[index], batch);
    // A loss has rows of classes: with T words a sample, batch * T of them.
    loss_ = torch::nn::functional::cross_entropy(logits_.reshape({-1, logits_.size(-1)}),
                                                 labels_[index], loss_options_);
    loss_.backward();
    optimizer_->step();
  }

  double Loss() override { return loss_.item<float>(); }
  void ReadLogits(float* out) override { CopyOut(logits_, out); }
  void ReadGradient(const sdk::Parameter& parameter, float* out) override {
    CopyOut(Of(parameter).grad(), out);
  }
  void ReadWeight(const sdk::Parameter& parameter, float* out) override {
    CopyOut(Of(parameter), out);
  }
  void ReadBuffer(const sdk::Buffer& buffer, float* out) override {
    CopyOut(net_->Buffers().at(buffer.name), out);
  }
  void ReadVelocity(const sdk::Parameter& parameter, float* out) override {
    CopyOut(Velocity(Of(parameter)), out);
  }

  std::map<std::string, std::string> EffectiveSettings() override {
    std::map<std::string, std::string> settings{
        {"at::get_num_threads", std::to_string(at::get_num_threads())},
        {"at::get_num_interop_threads", std::to_string(at::get_num_interop_threads())},
        {"onednn", at::globalContext().userEnabledMkldnn() ? "on" : "off"},
        {"processors", std::to_string(AllowedProcessors())},
        {"mode", "eager"}};
    for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "GLIBC_TUNABLES"}) {
      if (const char* value = std::getenv(name)) settings[name] = value;
    }
    return settings;
  }

 private:
  void TakeParameters() {
    const std::vector<const sdk::Parameter*> parameters = spec_->network.Parameters();
    by_name_ = net_->Parameters();
    TORCH_CHECK(parameters.size() == by_name_.size(), "the model has other parameters");
    std::vector<torch::Tensor> decaying, others;
    for (const sdk::Parameter* parameter : parameters) {
      const torch::Tensor& tensor = Of(*parameter);
      TORCH_CHECK(tensor.sizes() == at::IntArrayRef(parameter->shape), parameter->name);
      tensors_.emplace_back(parameter, tensor);
      initial_[parameter->name] =
          torch::from_blob(const_cast<float*>(parameter->initial), parameter->shape).clone();
      (parameter->decays ? decaying : others).push_back(tensor);
    }
    optimizer_ = MakeOptimizer(spec_->network.optimizer, decaying, others);
    if (spec_->network.loss.reduction == "sum") loss_options_.reduction(torch::kSum);
  }

  void TakeBatches() {
    std::vector<std::int64_t> shape{spec_->batch};
    shape.insert(shape.end(), spec_->network.input_shape.begin(), spec_->network.input_shape.end());
    for (std::int64_t i = 0; i < spec_->pool; ++i) {
      const sdk::Batch batch = spec_->At(i);
      if (batch.tokens != nullptr) {
        x_.push_back(Ids(batch.tokens, shape));
      } else {
        x_.push_back(torch::from_blob(const_cast<float*>(batch.x), shape).clone());
      }
      labels_.push_back(Ids(batch.labels, {spec_->batch * spec_->labels_per_sample}));
    }
  }

  /// As embeddings and losses take them.
  static torch::Tensor Ids(const std::int32_t* ids, const std::vector<std::int64_t>& shape) {
    return torch::from_blob(const_cast<std::int32_t*>(ids), shape, torch::kInt32).to(torch::kInt64);
  }

  void SetLearningRate(double learning_rate) {
    learning_rate_ = learning_rate;
    for (auto& group : optimizer_->param_groups()) {
      static_cast<torch::optim::SGDOptions&>(group.options()).lr(learning_rate);
    }
  }

  const torch::Tensor& Of(const sdk::Parameter& parameter) const {
    return by_name_.at(parameter.name);
  }
  torch::Tensor Velocity(const torch::Tensor& tensor) {
    auto& state = *optimizer_->state().at(tensor.unsafeGetTensorImpl());
    return static_cast<torch::optim::SGDParamState&>(state).momentum_buffer();
  }

  const sdk::Spec* spec_ = nullptr;
  std::unique_ptr<Net> net_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
  torch::nn::functional::CrossEntropyFuncOptions loss_options_;
  std::vector<std::pair<const sdk::Parameter*, torch::Tensor>> tensors_;
  std::map<std::string, torch::Tensor> by_name_;
  std::map<std::string, torch::Tensor> initial_;
  std::vector<torch::Tensor> x_;
  std::vector<torch::Tensor> labels_;
  torch::Tensor logits_;
  torch::Tensor loss_;
  double learning_rate_ = -1.0;
};

/// One weight at 1, learning rate 0.1, momentum 0.9, decay 0.01, gradients 1, 0, -1: the weight
/// after each step. 0.899000 0.807201 0.823775 if decay is added before momentum (case C40).
void PrintOptimizerProbe() {
  torch::Tensor weight = torch::ones({1}, torch::requires_grad());
  const auto optimizer = MakeOptimizer({"sgd", 0.1, 0.9, 0.01, false}, {weight}, {});
  const char* separator = "";
  for (const float gradient : {1.0F, 0.0F, -1.0F}) {
    weight.mutable_grad() = torch::full({1}, gradient);
    optimizer->step();
    std::printf("%s%.6f", separator, weight.item<float>());
    separator = " ";
  }
  std::printf("\n");
}

/// A small training step, and one line that dlbench reads (docs/frameworks.md).
int PrintProbe() {
  torch::nn::Linear layer(4, 3);
  const torch::Tensor before = layer->weight.detach().clone();
  torch::optim::SGD optimizer(layer->parameters(), 0.1);
  const torch::Tensor labels = torch::tensor({0, 2}, torch::kInt64);
  torch::nn::functional::cross_entropy(layer->forward(torch::ones({2, 4})), labels).backward();
  optimizer.step();
  const bool moved = !torch::equal(before, layer->weight.detach());
  std::printf("DLBENCH_PROBE {\"ok\":%s,\"version\":\"%s\",\"failure\":\"%s\"}\n",
              moved ? "true" : "false", TORCH_VERSION,
              moved ? "" : "the first step fails: the step changed nothing");
  return moved ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string asked = argc > 1 ? argv[1] : "";
  if (asked == "--probe") return PrintProbe();
  if (asked == "--optimizer-probe") {
    PrintOptimizerProbe();
    return 0;
  }
  LibTorchAdapter adapter;
  return sdk::Serve(adapter);
}
