#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "data/dataset.h"
#include "network/network.h"
#include "reference/engine.h"
#include "verify/trajectory.h"

namespace dlbench::verify {

/// Everything that one forward and backward pass depends on. What a fault leaves alone is shared.
struct Situation {
  std::shared_ptr<const network::Network> network;
  std::shared_ptr<const Tensors> weights;
  std::vector<float> x;                                    ///< [samples, input].
  std::vector<std::int32_t> labels;                        ///< [samples] or [samples, T].
  std::map<std::string, std::vector<std::uint8_t>> masks;  ///< By dropout node, [samples, shape].

  std::size_t samples() const {
    return labels.size() / static_cast<std::size_t>(network->LabelsPerSample());
  }
};

/// A known way to compute something else: a change of the situation, or nothing where it does not
/// apply (no square weight to transpose, say).
struct ForwardFault {
  std::string name;   ///< Short, "bias_missing:fc1".
  std::string cause;  ///< In words.
  std::function<std::optional<Situation>(const Situation&)> apply;
};

/// All forward faults that can apply to `network`. `previous_x` and `previous_labels`: the batch
/// before, for stale batches; they must outlive the faults.
std::vector<ForwardFault> KnownForwardFaults(const network::Network& network,
                                             std::span<const float> previous_x,
                                             std::span<const std::int32_t> previous_labels);

/// Passes of the reference over situations (no update). Keeps the engine and the weights in it as
/// long as the next situation shares them: for a large network most of the cost.
class Evaluator {
 public:
  Result<reference::StepResult> Evaluate(const Situation& situation,
                                         reference::Arithmetic arithmetic = {});

 private:
  std::unique_ptr<reference::Engine> engine_;
  reference::Arithmetic arithmetic_;
  std::size_t samples_ = 0;
  std::shared_ptr<const network::Network> network_;
  std::shared_ptr<const Tensors> weights_;
};

/// A known way to get the loss wrong from the right logits.
struct LossFault {
  std::string name;
  std::string cause;
  /// The wrong loss from float64 logits [samples, classes] and labels.
  std::function<double(const std::vector<double>& logits, std::span<const std::int32_t> labels,
                       std::int64_t classes, double right_loss)>
      loss;
};
std::vector<LossFault> KnownLossFaults();

}  // namespace dlbench::verify
