#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layers/layer.h"
#include "planner.h"
#include "softmax_loss.h"

namespace dlbench::onednn {

/// Trains one network with oneDNN on the CPU in strict float32. All memory, layouts and primitives
/// are planned by the constructor; Step() reserves none. Not thread-safe.
class Engine {
 public:
  /// Throws dlbench::adapter::Unsupported, std::bad_alloc or dnnl::error. Weights are 0 until they
  /// are loaded, buffers as after ResetBuffers.
  Engine(const adapter::Network& network, const EngineOptions& options);

  /// Parameters in the network's order.
  std::size_t parameter_count() const { return parameters_.size(); }
  const Parameter& parameter(std::size_t index) const { return *parameters_[index]; }
  /// Sets a parameter from its canonical layout and its velocity to 0.
  void Load(std::size_t index, const float* canonical);
  /// Each copies to the canonical layout; `out` has the parameter's element count.
  void ReadValues(std::size_t index, float* out) const;
  /// The gradient of the last step.
  void ReadGradient(std::size_t index, float* out) const;
  /// False without momentum: then there is no velocity to read.
  bool has_velocity() const { return context_.sgd.momentum != 0.0F; }
  void ReadVelocity(std::size_t index, float* out) const;

  /// Gives running statistics and carried states their initial values.
  void ResetBuffers();
  /// The buffer of this canonical name. Throws std::runtime_error if there is none.
  void ReadBuffer(const std::string& name, float* out) const;

  /// One training step: forward, loss, backward, update. Returns the loss before the update. Throws
  /// dnnl::error.
  double Step(const StepInput& input);
  /// The logits of the last step in file order, [batch, classes] or [batch, T, classes].
  void ReadLogits(float* out) const;
  /// Elements of ReadLogits.
  std::int64_t logit_count() const;
  std::int64_t classes() const { return classes_; }
  /// Bytes planned in all: parameters, gradients, velocities, activations, scratchpad.
  std::size_t planned_bytes() const { return plan_->bytes(); }
  /// Version, instruction set, runtime, layouts and implementations, for the record.
  std::map<std::string, std::string> EffectiveSettings() const;

 private:
  void PlanLoss();
  const std::int32_t* LabelsByRow(const std::int32_t* labels);

  Graph graph_;
  Context context_;
  std::optional<Planner> plan_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Parameter*> parameters_;
  std::int64_t classes_ = 0;
  std::int64_t length_ = 1;  ///< T, 1 without sequences.
  std::optional<SoftmaxLoss> loss_;
  Tensor logits_, logits_gradient_;       ///< [rows, classes], by time.
  std::vector<std::int32_t> row_labels_;  ///< Of sequences, by time.
};

/// oneDNN's version as "2.6.3".
std::string LibraryVersion();
/// How the library was built (runtime, commit); allocates nothing large.
std::map<std::string, std::string> BuildInformation();

}  // namespace dlbench::onednn
