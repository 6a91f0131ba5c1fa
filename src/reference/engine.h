#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "network/network.h"

namespace dlbench::reference {

/// Arithmetic of a reference run. float64 is the definition of right; float32 runs under several
/// summation orders measure what honest float32 arithmetic costs.
enum class Precision { kFloat64, kFloat32, kBFloat16Operands, kTF32Operands };

/// How sums are formed. Order 0 is the plain one; each other order permutes and blocks every
/// reduction (dense inputs, batch sums) differently, so that rounding differs and nothing else.
struct Arithmetic {
  Precision precision = Precision::kFloat64;
  int summation_order = 0;
  bool operator==(const Arithmetic&) const = default;
};

/// Parameters, optimiser state and buffers by canonical name, each in canonical layout, as float64.
struct State {
  std::map<std::string, std::vector<double>> weights;
  std::map<std::string, std::vector<double>> velocity;
  std::map<std::string, std::vector<double>> buffers;  ///< Per sample: [batch, shape].
};

/// The masks of dropout nodes by node name: 0 or 1 for each element of the node's output, sample
/// after sample.
using Masks = std::map<std::string, std::span<const std::uint8_t>>;

/// What one training step computed, before the update it applied.
struct StepResult {
  double loss = 0.0;
  std::vector<double> logits;                              ///< [batch, (T,) classes].
  std::map<std::string, std::vector<double>> gradients;    ///< By canonical name, of the loss.
  std::map<std::string, std::vector<double>> activations;  ///< By node name, if asked for.
};

/// Trains `network` at one batch size. Small and plain on purpose: every layer is one file.
/// Not thread-safe; deterministic for one machine, thread count and arithmetic.
class Engine {
 public:
  /// kUnsupported names the node whose op the engine lacks.
  static Result<std::unique_ptr<Engine>> Create(const network::Network& network, std::int64_t batch,
                                                Arithmetic arithmetic);
  virtual ~Engine() = default;

  /// Replaces all weights, velocities and buffers; missing velocities become zero, missing buffers
  /// what a reset gives them. In float32 arithmetic the state is rounded to float32 (the frameworks
  /// store it so).
  virtual void SetState(const State& state) = 0;
  /// As SetState with velocities of zero and buffers reset, by canonical name.
  virtual void SetWeights(const std::map<std::string, std::vector<double>>& weights) = 0;
  virtual State GetState() const = 0;
  /// The weights alone, by canonical name: half the copying of GetState.
  virtual std::map<std::string, std::vector<double>> GetWeights() const = 0;
  /// The buffers alone, by canonical name.
  virtual std::map<std::string, std::vector<double>> GetBuffers() const = 0;
  /// The masks of the passes that follow; they must outlive them. Needed once a network has
  /// dropout.
  virtual void SetMasks(const Masks& masks) = 0;
  /// Forward, loss, backward, update with `learning_rate`. `x` is [batch, input], of tokens their
  /// ids; `labels` [batch], or [batch, T] where each token has logits.
  virtual StepResult Step(std::span<const float> x, std::span<const std::int32_t> labels,
                          double learning_rate, bool keep_activations = false) = 0;
  /// The same step without handing out logits and gradients (large networks: most of the copying).
  /// Returns the loss before the update.
  virtual double Advance(std::span<const float> x, std::span<const std::int32_t> labels,
                         double learning_rate) = 0;
  /// The same step without its update; the state is not changed.
  virtual StepResult Differentiate(std::span<const float> x,
                                   std::span<const std::int32_t> labels) = 0;
  /// Forward and loss only; the state is not changed.
  virtual StepResult Forward(std::span<const float> x, std::span<const std::int32_t> labels,
                             bool keep_activations = false) = 0;
};

/// Float64 state from float32 weights, velocities zero.
State StateFrom(const std::map<std::string, std::vector<float>>& weights);

}  // namespace dlbench::reference
