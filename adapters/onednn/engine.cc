#include "engine.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

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

Engine::Engine(const adapter::Network& network, const EngineOptions& options) : graph_(network) {
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
  context_.sgd = graph_.sgd();
  plan_.emplace(context_, graph_);
  for (int index = 0; index < graph_.size(); ++index) {
    plan_->BeginForward(index);
    layers_.push_back(MakeLayer(graph_.node(index)));
    layers_.back()->PlanForward(*plan_);
  }
  PlanLoss();
  for (int index = graph_.size(); index-- > 0;) {
    if (!graph_.trained(index)) continue;
    plan_->BeginBackward(index);
    layers_[static_cast<std::size_t>(index)]->PlanBackward(*plan_);
    plan_->EndBackward();
  }
  plan_->Commit();
  for (const adapter::Parameter* wanted : graph_.network().Parameters()) {
    for (const auto& parameter : plan_->parameters()) {
      if (parameter->name == wanted->name) parameters_.push_back(parameter.get());
    }
    if (parameters_.empty() || parameters_.back()->name != wanted->name) {
      throw Unsupported("parameter '" + wanted->name + "' belongs to no layer");
    }
  }
}

void Engine::PlanLoss() {
  plan_->BeginLoss();
  const adapter::Shape& shape = graph_.shape(graph_.logits());
  if (shape.size() > 2) Refuse(graph_.node(graph_.logits()), "the logits are an image");
  classes_ = shape.back();
  length_ = shape.size() == 2 ? shape[0] : 1;
  const std::int64_t rows = length_ * context_.batch;
  const Tensor& value = plan_->ValueAt(graph_.logits());
  logits_ = plan_->View(value, Context::Matrix(rows, classes_));
  const Tensor gradient = plan_->NewTensor(value.desc());
  logits_gradient_ = plan_->View(gradient, logits_.desc());
  plan_->SetLogitsGradient(gradient);
  loss_.emplace(rows, classes_, graph_.mean_loss(), context_.threads);
  if (length_ > 1) row_labels_.resize(static_cast<std::size_t>(rows));
}

void Engine::Load(std::size_t index, const float* canonical) {
  parameters_[index]->Load(context_, canonical);
}

void Engine::ReadValues(std::size_t index, float* out) const {
  parameters_[index]->Read(context_, parameters_[index]->values, out);
}

void Engine::ReadGradient(std::size_t index, float* out) const {
  parameters_[index]->Read(context_, parameters_[index]->gradient, out);
}

void Engine::ReadVelocity(std::size_t index, float* out) const {
  parameters_[index]->Read(context_, parameters_[index]->velocity, out);
}

void Engine::ResetBuffers() {
  for (const auto& buffer : plan_->buffers()) buffer->Reset();
}

void Engine::ReadBuffer(const std::string& name, float* out) const {
  for (const auto& buffer : plan_->buffers()) {
    if (buffer->name != name) continue;
    std::copy_n(buffer->data(), buffer->count, out);
    return;
  }
  throw std::runtime_error("buffer '" + name + "' belongs to no layer");
}

/// Labels are [batch, T], rows of logits [T, batch].
const std::int32_t* Engine::LabelsByRow(const std::int32_t* labels) {
  if (length_ == 1) return labels;
  std::size_t row = 0;
  for (std::int64_t t = 0; t < length_; ++t) {
    for (std::int64_t n = 0; n < context_.batch; ++n) row_labels_[row++] = labels[n * length_ + t];
  }
  return row_labels_.data();
}

double Engine::Step(const StepInput& input) {
  plan_->SetInput(input.x);
  for (const Action& action : plan_->forward()) action(input);
  const double loss =
      loss_->Evaluate(logits_.data(), LabelsByRow(input.labels), logits_gradient_.data());
  for (const Action& action : plan_->backward()) action(input);
  return loss;
}

void Engine::ReadLogits(float* out) const {
  const adapter::Shape& shape = graph_.shape(graph_.logits());
  const dnnl::memory from(context_.Plain(shape), context_.engine, logits_.data());
  Reorder(context_, from, {context_.FileOrder(shape), context_.engine, out});
}

std::int64_t Engine::logit_count() const { return context_.batch * length_ * classes_; }

std::map<std::string, std::string> Engine::EffectiveSettings() const {
  std::map<std::string, std::string> settings{
      {"onednn.version", LibraryVersion()},
      {"onednn.cpu_isa", IsaName(dnnl::get_effective_cpu_isa())},
      {"onednn.fpmath_mode", "strict"},
      {"omp_get_max_threads", std::to_string(MaxThreads())},
      {"allowed_processors", std::to_string(AllowedProcessors())},
      {"planned_bytes", std::to_string(planned_bytes())}};
  settings.insert(plan_->notes().begin(), plan_->notes().end());
  return settings;
}

}  // namespace dlbench::onednn
