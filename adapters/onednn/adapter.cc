#include "adapter.h"

#include <algorithm>
#include <cstring>

#include "parallel.h"

namespace dlbench::onednn {

namespace {

/// The settings that Prepare understands, each with one sentence for the user.
const std::map<std::string, std::string> kSettings = {
    {"fpmath", "Precision inside the products; only 'strict' (float32) is built."},
    {"weights_layout",
     "'auto' (as the preset does), 'rows', 'columns' or 'blocked': how weights are stored."}};

WeightLayout ReadLayout(const adapter::Spec& spec) {
  const auto found = spec.settings.find("weights_layout");
  if (found == spec.settings.end() || found->second == "auto") return WeightLayout::kAuto;
  if (found->second == "rows") return WeightLayout::kRows;
  if (found->second == "columns") return WeightLayout::kColumns;
  if (found->second == "blocked") return WeightLayout::kBlocked;
  throw adapter::Unsupported("weights_layout '" + found->second +
                             "' is not known; there are auto, rows, columns and blocked");
}

void CheckArithmetic(const adapter::Spec& spec) {
  const auto found = spec.settings.find("fpmath");
  if (found == spec.settings.end() || found->second == "strict") return;
  throw adapter::Unsupported("fpmath '" + found->second +
                             "' is not built: it would narrow float32 without saying so");
}

}  // namespace

adapter::Description OnednnAdapter::Describe() {
  adapter::Description description;
  description.framework = "onednn";
  description.framework_version = LibraryVersion();
  description.mode_label = {{"default", "plain layouts"}, {"recommended", "best layouts, fused"}};
  description.build = BuildInformation();
  description.presets = {"default", "recommended"};
  description.ops = BuiltOps();
  description.settings = kSettings;
  return description;
}

adapter::Prepared OnednnAdapter::Prepare(const adapter::Spec& spec) {
  CheckArithmetic(spec);
  spec_ = &spec;
  const Preset preset = spec.preset == "default" ? Preset::kDefault : Preset::kRecommended;
  engine_.emplace(spec.network, EngineOptions{spec.batch, spec.threads, preset, ReadLayout(spec)});
  if (spec.x != nullptr) {
    const std::size_t bytes =
        static_cast<std::size_t>(spec.pool * spec.batch * spec.sample_size) * sizeof(float);
    batches_ = Buffer(bytes);
    std::memcpy(batches_.data(), spec.x, bytes);
  }
  index_.clear();
  for (std::size_t i = 0; i < engine_->parameter_count(); ++i) {
    index_[engine_->parameter(i).name] = i;
  }
  dropouts_.clear();
  for (const adapter::Node& node : spec.network.nodes) {
    if (node.op == "dropout") dropouts_.push_back(&node);
  }
  input_.masks.resize(dropouts_.size());
  Reset();
  return {spec.batch, "float32", MaxThreads(), engine_->EffectiveSettings()};
}

std::size_t OnednnAdapter::IndexOf(const adapter::Parameter& parameter) const {
  const auto found = index_.find(parameter.name);
  if (found == index_.end()) {
    throw adapter::Unsupported("parameter '" + parameter.name + "' belongs to no layer");
  }
  return found->second;
}

void OnednnAdapter::Reset() {
  for (const adapter::Parameter* parameter : spec_->network.Parameters()) {
    engine_->Load(IndexOf(*parameter), parameter->initial);
  }
  engine_->ResetBuffers();
}

void OnednnAdapter::Step(std::int64_t batch, double learning_rate) {
  const adapter::Batch from = spec_->At(batch);
  if (from.x != nullptr) input_.x = batches_.data() + batch * spec_->batch * spec_->sample_size;
  input_.tokens = from.tokens;
  input_.labels = from.labels;
  for (std::size_t i = 0; i < dropouts_.size(); ++i) {
    input_.masks[i] = spec_->MaskAt(*dropouts_[i], batch);
  }
  input_.learning_rate = static_cast<float>(learning_rate);
  loss_ = engine_->Step(input_);
}

void OnednnAdapter::ReadLogits(float* out) { engine_->ReadLogits(out); }

void OnednnAdapter::ReadBuffer(const adapter::Buffer& buffer, float* out) {
  engine_->ReadBuffer(buffer.name, out);
}

void OnednnAdapter::ReadGradient(const adapter::Parameter& parameter, float* out) {
  engine_->ReadGradient(IndexOf(parameter), out);
}

void OnednnAdapter::ReadWeight(const adapter::Parameter& parameter, float* out) {
  engine_->ReadValues(IndexOf(parameter), out);
}

void OnednnAdapter::ReadVelocity(const adapter::Parameter& parameter, float* out) {
  engine_->ReadVelocity(IndexOf(parameter), out);
}

std::map<std::string, std::string> OnednnAdapter::EffectiveSettings() {
  return engine_ ? engine_->EffectiveSettings() : std::map<std::string, std::string>{};
}

}  // namespace dlbench::onednn
