#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/clock.h"
#include "experiment/arm.h"
#include "network/network.h"
#include "verify/gate.h"
#include "verify/trajectory.h"
#include "worker/worker.h"

namespace dlbench::experiment {

/// One process to start and what to ask of it.
struct LaunchRequest {
  const Arm* arm = nullptr;                    ///< Not owned.
  const network::Network* network = nullptr;   ///< Not owned.
  const verify::Sequence* sequence = nullptr;  ///< Steps of `verify`; not owned.
  std::filesystem::path weights, batches;      ///< Absolute.
  std::int64_t pool = 0;                       ///< Batches in the pool.
  std::map<std::string, std::string> settings;
  std::filesystem::path folder;  ///< The launch's own.
  /// Gradients and updates too, not only logits and losses. In a timed launch only after the run:
  /// what is asked before it must not tell that this launch is looked at more closely.
  bool full_check = false;
  std::int64_t warmup_steps = 0;    ///< Steps before the timed ones, in the same run.
  std::int64_t timed_steps = 0;     ///< 0: a gate launch, which calibrates instead.
  std::int64_t block_steps = 5;     ///< For asynchronous adapters.
  std::int64_t replayed_steps = 1;  ///< After the run; the gate replays them.
  std::int64_t state_steps = 0;     ///< Of a further run to be compared with `verify`; 0: none.
  /// If not 0: `verify` takes the steps of the whole run again; it must end in the same state, and
  /// the gate replays `replayed_steps` of them after so many.
  std::int64_t middle_step = 0;
  worker::Limits limits;
};

/// The state around the steps after the run.
struct StepObservation {
  worker::Exported before, after;
  std::int64_t first_batch = 0;
  std::int64_t steps = 0;
  worker::Ran run;
};

/// The state after as many steps of `run` and of `verify`.
struct StateObservation {
  worker::Exported after_run;
  std::filesystem::path after_verify;  ///< Weights.
  std::int64_t steps = 0;
  std::optional<std::filesystem::path> after_second_run;  ///< Only where the first two differ.
};

/// What one launch showed, as far as it came.
struct LaunchObservation {
  std::optional<worker::Failure> failure;
  std::optional<worker::Hello> hello;
  std::optional<worker::Prepared> prepared;
  std::optional<worker::Verified> before, after;  ///< Answers to `verify` around the run.
  std::optional<worker::Ran> run;                 ///< Warm-up and timed steps, from a reset.
  std::optional<StateObservation> state;          ///< Only if asked for.
  std::optional<StepObservation> step;
  std::optional<verify::StepFiles> middle;  ///< Steps amid those of the run, by `verify`.
  std::optional<worker::Finished> finished;
  double ready_seconds = 0.0;  ///< Start to the answer to `hello`.
  double prepare_seconds = 0.0;
  double first_step_seconds = 0.0;  ///< Compilation included.
};

/// Runs one launch. Substituted in tests.
class Launcher {
 public:
  virtual ~Launcher() = default;
  LaunchObservation Launch(const LaunchRequest& request) { return DoLaunch(request); }
  /// Starts the arm's adapter only to hear its `hello`; `folder` holds what it printed.
  worker::Outcome<worker::Hello> Greet(const Arm& arm, const std::filesystem::path& folder) {
    return DoGreet(arm, folder);
  }

 private:
  virtual LaunchObservation DoLaunch(const LaunchRequest& request) = 0;
  virtual worker::Outcome<worker::Hello> DoGreet(const Arm& arm,
                                                 const std::filesystem::path& folder) = 0;
};

/// Starts real worker processes. `clock` and `interrupted` must outlive it.
class ProcessLauncher final : public Launcher {
 public:
  ProcessLauncher(Clock& clock, const volatile std::sig_atomic_t* interrupted,
                  std::filesystem::path cache_folder)
      : clock_(clock), interrupted_(interrupted), cache_folder_(std::move(cache_folder)) {}

 private:
  LaunchObservation DoLaunch(const LaunchRequest& request) override;
  worker::Outcome<worker::Hello> DoGreet(const Arm& arm,
                                         const std::filesystem::path& folder) override;
  worker::LaunchSpec SpecFor(const Arm& arm, const std::filesystem::path& folder) const;

  Clock& clock_;
  const volatile std::sig_atomic_t* interrupted_;
  const std::filesystem::path cache_folder_;
};

}  // namespace dlbench::experiment
