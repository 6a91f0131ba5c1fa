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

/// The state around a few more steps after the timed run.
struct StepFiles {
  std::filesystem::path weights_before;
  std::optional<std::filesystem::path> velocity_before;  ///< Absent without momentum, or:
  /// One step earlier still, from which the velocity follows (VelocityFollows).
  std::optional<std::filesystem::path> weights_earlier;
  std::filesystem::path weights_after;
  std::int64_t first_batch = 0;  ///< Pool index of the first step; the others follow.
  std::int64_t steps = 1;
  /// As the adapter reported them, each with its step number from 1 to `steps`.
  std::vector<std::pair<std::int64_t, double>> losses;
};

/// Whether the velocity follows from the weights before and after a step: not with Nesterov's rule.
bool VelocityFollows(const network::Optimizer& optimizer);

/// The adapter's weights after the same steps, taken once by `run` and once by `verify`.
struct StateFiles {
  std::filesystem::path after_run, after_verify;
  /// After another run of as many steps, where the first two differ: how far honest repetitions do.
  std::optional<std::filesystem::path> after_second_run;
  std::int64_t steps = 0;  ///< From a reset, at the network's rate.
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
  /// Steps of a gate launch's run that is compared with `verify`: more than kRunSteps, and few
  /// enough that the limits measured over kRunSteps steps hold (rounding errors grow with the
  /// steps).
  static constexpr std::int64_t kLeastStateSteps = 11, kMostStateSteps = 16;
  /// Steps replayed after the run: more than one, since a run of one step may be another code path.
  static constexpr std::int64_t kLeastReplayedSteps = 2, kMostReplayedSteps = 4;

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
  /// Compares the adapter with itself: a run must leave the state that `verify` reaches by the same
  /// steps, however many. No reference is needed, so this costs the adapter's own steps only.
  virtual Result<std::vector<Check>> CheckRunState(const StateFiles& files) const = 0;
  /// Replays a few steps from the adapter's own state and compares the update and losses. `moment`:
  /// "run" for those after the run, "middle" for those amid as many as the run had.
  virtual Result<std::vector<Check>> CheckStep(const StepFiles& files,
                                               const std::string& moment) const = 0;

  /// The result of all checks: status, first failure in execution order, likely cause. `answers`
  /// and `step` serve the diagnosis; null where there are none.
  virtual GateResult Judge(std::vector<Check> checks, const Answers* answers,
                           const StepFiles* step) const = 0;

  /// Float64 results of the reference as safetensors files in `folder` (for --keep).
  virtual Status WriteReference(const std::filesystem::path& folder) const = 0;
};

}  // namespace dlbench::verify
