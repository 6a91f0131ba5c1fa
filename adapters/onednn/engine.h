#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layer.h"
#include "softmax_loss.h"
#include "spec.h"

namespace dlbench::onednn {

/// Trains one network with oneDNN on the CPU in strict float32. All memory, layouts and primitives
/// are planned by the constructor; Step() reserves none. Not thread-safe.
class Engine {
 public:
  /// Throws dlbench::adapter::Unsupported, std::bad_alloc or dnnl::error.
  Engine(const NetworkSpec& network, const EngineOptions& options);

  /// Parameters in the network's order, weight before bias.
  std::size_t parameter_count() const { return parameters_.size(); }
  const Parameter& parameter(std::size_t index) const { return *parameters_[index]; }
  /// Sets a parameter from its canonical layout and its velocity to 0.
  void Load(std::size_t index, const float* canonical);
  /// Each copies to the canonical layout; `out` has the parameter's element count.
  void ReadValues(std::size_t index, float* out) const;
  /// The gradient of the last step.
  void ReadGradient(std::size_t index, float* out) const;
  /// False without momentum: then there is no velocity to read.
  bool has_velocity() const { return sgd_.momentum != 0.0F; }
  void ReadVelocity(std::size_t index, float* out) const;

  /// One training step on `x` [batch, input width] and `labels` [batch], each in [0, classes):
  /// forward, loss, backward, update. Returns the loss before the update. Throws dnnl::error.
  double Step(const float* x, const std::int32_t* labels, double learning_rate);
  /// [batch, classes] of the last step.
  const float* logits() const;
  std::int64_t classes() const { return classes_; }
  /// Bytes planned in all: parameters, gradients, velocities, activations, scratchpad.
  std::size_t planned_bytes() const;
  /// Version, instruction set, runtime, layouts and implementations, for the record.
  std::map<std::string, std::string> EffectiveSettings() const;

 private:
  void AddLayers(const NetworkSpec& network);
  void PlanScratchpad();
  dnnl::memory NewMatrix(std::int64_t width);

  Context context_;
  SgdRule sgd_;
  std::int64_t classes_ = 0;
  std::vector<Buffer> matrices_;  ///< Activations and the two alternating gradients.
  Buffer scratchpad_;
  dnnl::memory input_, logits_, logits_gradient_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Parameter*> parameters_;
  std::size_t first_trained_ = 0;  ///< The first layer with parameters; gradients stop there.
  std::optional<SoftmaxLoss> loss_;
};

/// oneDNN's version as "2.6.3".
std::string LibraryVersion();
/// How the library was built (runtime, commit); allocates nothing large.
std::map<std::string, std::string> BuildInformation();

}  // namespace dlbench::onednn
