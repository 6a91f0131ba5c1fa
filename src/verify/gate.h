#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "data/dataset.h"
#include "network/network.h"
#include "verify/limits.h"
#include "verify/trajectory.h"
#include "verify/verify.h"

namespace dlbench::verify {

/// What is to be proved the same. The pointers must outlive the gate.
struct GateCase {
  const network::Network* network = nullptr;
  const std::map<std::string, std::vector<float>>* weights = nullptr;
  const data::BatchPool* pool = nullptr;
  bool rate_changes = true;  ///< False for adapters whose learning rate is fixed.
};

/// An adapter's answer to `verify`: files of tensors by canonical name.
struct Answers {
  std::vector<double> losses;
  std::optional<std::filesystem::path> logits;
  std::optional<std::filesystem::path> gradients;
  std::map<std::int64_t, std::filesystem::path> weights;  ///< By number of steps taken.
};

/// The state around one more step after the timed run (decision 7 of docs/equality.md).
struct StepFiles {
  std::filesystem::path weights_before;
  std::optional<std::filesystem::path> velocity_before;  ///< Absent only without momentum.
  std::filesystem::path weights_after;
  std::int64_t batch = 0;  ///< Pool index that the step was told to use.
  double loss = 0.0;       ///< As the adapter reported it.
};

/// How much of an answer is compared.
enum class Depth {
  kFull,   ///< Logits, losses, every gradient, every update.
  kLight,  ///< Logits and losses.
};

/// The equality gate of one case: the reference's results, the limits measured for them, and the
/// judgement of an adapter's answers. Creating it runs the reference several times (seconds).
class Gate {
 public:
  /// Steps compared by `verify`: five batches; the rate is halved for the last two, since two
  /// momentum conventions agree while it is constant.
  static constexpr std::int64_t kSteps = 5;
  /// Steps of a run whose losses are held against the reference's own trajectory.
  static constexpr std::int64_t kRunSteps = 10;

  /// kUnsupported where the reference lacks an op.
  static Result<std::unique_ptr<Gate>> Create(const GateCase& gate_case);
  virtual ~Gate() = default;

  /// What to ask of `verify`.
  virtual const Sequence& sequence() const = 0;
  /// Compares an answer to `verify`. An Error means that the answer is malformed (tensor missing,
  /// wrong shape).
  virtual Result<std::vector<Check>> CheckAnswers(const Answers& answers, Depth depth,
                                                  const std::string& moment) const = 0;
  /// Compares losses of a run from the start, each with its step number from 1, up to kRunSteps;
  /// later ones must be finite and move.
  virtual std::vector<Check> CheckRunLosses(
      std::span<const std::pair<std::int64_t, double>> losses) const = 0;
  /// Compares the update of one more step from the exported state with the reference's.
  virtual Result<std::vector<Check>> CheckStep(const StepFiles& files) const = 0;

  /// The result of all checks: status, first failure in execution order, likely cause. `answers`
  /// and `step` serve the diagnosis; null where there are none.
  virtual GateResult Judge(std::vector<Check> checks, const Answers* answers,
                           const StepFiles* step) const = 0;

  /// Float64 results of the reference as safetensors files in `folder` (for --keep).
  virtual Status WriteReference(const std::filesystem::path& folder) const = 0;
};

}  // namespace dlbench::verify
