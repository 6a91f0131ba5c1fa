#include "engine.h"

#include <algorithm>
#include <cstdlib>

#include "activation.h"
#include "dense.h"
#include "dlbench_adapter.h"
#include "dnnl_compat.h"
#include "parallel.h"

namespace dlbench::onednn {
namespace {

using adapter::Unsupported;

/// No environment variable may turn float32 into something narrower.
void ForbidNarrowMath() {
  unsetenv("ONEDNN_DEFAULT_FPMATH_MODE");
  unsetenv("DNNL_DEFAULT_FPMATH_MODE");
  dnnl::set_default_fpmath_mode(dnnl::fpmath_mode::strict);
}

std::string IsaName(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41:
      return "sse41";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "code " + std::to_string(static_cast<int>(isa));
  }
}

std::string RuntimeName(unsigned runtime) {
  if (runtime == DNNL_RUNTIME_OMP) return "openmp";
  if (runtime == DNNL_RUNTIME_TBB) return "tbb";
  return runtime == DNNL_RUNTIME_SEQ ? "sequential" : "code " + std::to_string(runtime);
}

/// Copies between layouts; outside the clock.
void Reorder(const Context& context, const dnnl::memory& from, const dnnl::memory& to) {
  dnnl::stream stream = context.stream;
  dnnl::memory source = from;
  dnnl::memory destination = to;
  dnnl::reorder(source, destination).execute(stream, source, destination);
  stream.wait();
}

void ReadTo(const Context& context, const Parameter& parameter, const dnnl::memory& from,
            float* out) {
  Reorder(context, from, dnnl::memory(parameter.canonical, context.engine, out));
}

}  // namespace

std::string LibraryVersion() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

std::map<std::string, std::string> BuildInformation() {
  return {{"onednn.commit", dnnl_version()->hash},
          {"onednn.cpu_runtime", RuntimeName(dnnl_version()->cpu_runtime)}};
}

dnnl::primitive_attr Context::Attributes() const {
  dnnl::primitive_attr attributes;
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory::desc Context::Matrix(std::int64_t rows, std::int64_t columns) {
  return {{rows, columns}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab};
}

Engine::Engine(const NetworkSpec& network, const EngineOptions& options) : sgd_(network.sgd) {
  if (dnnl_version()->cpu_runtime != DNNL_RUNTIME_OMP) {
    throw Unsupported("this oneDNN runs on '" + RuntimeName(dnnl_version()->cpu_runtime) +
                      "' threads; the adapter sets those of OpenMP only");
  }
  ForbidNarrowMath();
  SetThreads(options.threads);
  context_.engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
  context_.stream = dnnl::stream(context_.engine);
  context_.batch = options.batch;
  context_.threads = options.threads;
  context_.preset = options.preset;
  context_.layout = options.layout;
  AddLayers(network);
  PlanScratchpad();
  loss_.emplace(options.batch, classes_, network.mean_loss, options.threads);
}

dnnl::memory Engine::NewMatrix(std::int64_t width) {
  const dnnl::memory::desc desc = Context::Matrix(context_.batch, width);
  matrices_.emplace_back(desc.get_size());
  return {desc, context_.engine, matrices_.back().data()};
}

void Engine::AddLayers(const NetworkSpec& network) {
  const std::vector<LayerSpec>& specs = network.layers;
  const auto is_dense = [&](std::size_t i) { return specs[i].activation == Activation::kNone; };
  const bool fuses = context_.preset == Preset::kRecommended;
  std::int64_t widest = 0;
  first_trained_ = specs.size();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (is_dense(i)) widest = std::max(widest, specs[i].units);
    if (is_dense(i) && first_trained_ == specs.size()) first_trained_ = i;
  }
  if (first_trained_ == specs.size()) {
    throw Unsupported("the network has no dense layer, so there is nothing to train");
  }
  // Gradients of the batch are needed from one layer to the next only: two buffers take turns.
  matrices_.emplace_back(Context::Matrix(context_.batch, widest).get_size());
  matrices_.emplace_back(matrices_.back().bytes());
  float* turns[2] = {matrices_[0].data(), matrices_[1].data()};
  const auto gradient = [&](int turn, std::int64_t width) {
    return dnnl::memory(Context::Matrix(context_.batch, width), context_.engine, turns[turn]);
  };

  input_ = dnnl::memory(Context::Matrix(context_.batch, network.input_width), context_.engine,
                        DNNL_MEMORY_NONE);
  dnnl::memory input = input_;
  std::int64_t width = network.input_width;
  int turn = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool trained_before = i > first_trained_;
    LayerMatrices matrices;
    matrices.input = input;
    if (is_dense(i)) {
      matrices.output = NewMatrix(specs[i].units);
      if (trained_before) matrices.input_gradient = gradient(turn, width);
      turn = 1 - turn;
      width = specs[i].units;
      matrices.output_gradient = gradient(turn, width);
      const bool fuse = fuses && i + 1 < specs.size() && !is_dense(i + 1);
      const Activation fused = fuse ? specs[i + 1].activation : Activation::kNone;
      layers_.push_back(std::make_unique<DenseLayer>(context_, specs[i], sgd_, fused, matrices));
      input = matrices.output;
      continue;
    }
    // In place where nobody needs what is overwritten: a dense layer's own result.
    const bool after_dense = i > 0 && is_dense(i - 1);
    matrices.output = after_dense ? input : NewMatrix(width);
    if (trained_before) matrices.input_gradient = gradient(turn, width);
    matrices.output_gradient = matrices.input_gradient;
    const auto forwards = fuses && after_dense ? ActivationLayer::Forwards::kInProduct
                                               : ActivationLayer::Forwards::kHere;
    layers_.push_back(std::make_unique<ActivationLayer>(context_, specs[i].name,
                                                        specs[i].activation, forwards, matrices));
    input = matrices.output;
  }
  for (const auto& layer : layers_) {
    for (Parameter& parameter : layer->parameters()) parameters_.push_back(&parameter);
  }
  logits_ = input;
  logits_gradient_ = gradient(turn, width);
  classes_ = width;
}

void Engine::PlanScratchpad() {
  std::size_t largest = 0;
  for (const auto& layer : layers_) {
    for (const PrimitiveCall* call : layer->calls()) {
      largest = std::max(largest, call->scratchpad_bytes());
    }
  }
  scratchpad_ = Buffer(largest);
  for (const auto& layer : layers_) {
    for (PrimitiveCall* call : layer->calls()) call->UseScratchpad(scratchpad_.data());
  }
}

void Engine::Load(std::size_t index, const float* canonical) {
  Parameter& parameter = *parameters_[index];
  // oneDNN takes no pointers to constant memory; a reorder only reads its source.
  const dnnl::memory source(parameter.canonical, context_.engine, const_cast<float*>(canonical));
  Reorder(context_, source, parameter.values);
  if (!parameter.velocity) return;
  std::fill_n(static_cast<float*>(parameter.velocity.get_data_handle()), parameter.stored_elements,
              0.0F);
}

void Engine::ReadValues(std::size_t index, float* out) const {
  ReadTo(context_, *parameters_[index], parameters_[index]->values, out);
}

void Engine::ReadGradient(std::size_t index, float* out) const {
  ReadTo(context_, *parameters_[index], parameters_[index]->gradient, out);
}

void Engine::ReadVelocity(std::size_t index, float* out) const {
  ReadTo(context_, *parameters_[index], parameters_[index]->velocity, out);
}

double Engine::Step(const float* x, const std::int32_t* labels, double learning_rate) {
  input_.set_data_handle(const_cast<float*>(x));  // read only, see Load
  for (const auto& layer : layers_) layer->Forward(context_);
  const double loss =
      loss_->Evaluate(logits(), labels, static_cast<float*>(logits_gradient_.get_data_handle()));
  for (std::size_t i = layers_.size(); i-- > 0;) {
    layers_[i]->Backward(context_);
    // At once, while the gradient is in the caches; nobody needs the old weights any more.
    for (Parameter& parameter : layers_[i]->parameters()) {
      SgdUpdate(
          sgd_, parameter.decays, static_cast<float>(learning_rate), context_.threads,
          parameter.stored_elements,
          static_cast<const float*>(parameter.gradient.get_data_handle()),
          static_cast<float*>(parameter.values.get_data_handle()),
          parameter.velocity ? static_cast<float*>(parameter.velocity.get_data_handle()) : nullptr);
    }
  }
  return loss;
}

const float* Engine::logits() const { return static_cast<const float*>(logits_.get_data_handle()); }

std::size_t Engine::planned_bytes() const {
  std::size_t bytes = scratchpad_.bytes();
  for (const Buffer& buffer : matrices_) bytes += buffer.bytes();
  for (const Parameter* parameter : parameters_) {
    for (const Buffer& buffer : parameter->storage) bytes += buffer.bytes();
  }
  return bytes;
}

std::map<std::string, std::string> Engine::EffectiveSettings() const {
  std::map<std::string, std::string> settings{
      {"onednn.version", LibraryVersion()},
      {"onednn.cpu_isa", IsaName(dnnl::get_effective_cpu_isa())},
      {"onednn.fpmath_mode", "strict"},
      {"omp_get_max_threads", std::to_string(MaxThreads())},
      {"allowed_processors", std::to_string(AllowedProcessors())},
      {"planned_bytes", std::to_string(planned_bytes())}};
  for (const auto& layer : layers_) layer->Describe(settings);
  return settings;
}

}  // namespace dlbench::onednn
