#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlbench::experiment {

/// The order of `arms` launches in every round: randomised cyclic Latin squares. Within each group
/// of `arms` consecutive rounds every arm takes every position exactly once; the order depends on
/// the seed alone (docs/method.md).
std::vector<std::vector<std::size_t>> RoundOrders(std::size_t arms, std::size_t rounds,
                                                  std::uint64_t seed);

/// How many steps a launch takes.
struct LaunchLength {
  std::int64_t warmup_steps = 0;
  std::int64_t timed_steps = 0;
};

/// The length of every launch of a comparison whose arms take `step_seconds` (at least one, each
/// above 0) a step. The slowest arm decides how many steps are timed, the fastest how many warm up,
/// so that each has at least the seconds asked for. At least ten of each; at most what an answer of
/// the protocol can hold.
LaunchLength LengthFor(const std::vector<double>& step_seconds, double warmup_seconds,
                       double timed_seconds);

/// How many steps of a launch are compared, so chosen that no adapter knows them beforehand.
struct CheckedSteps {
  std::int64_t replayed = 0;  ///< LaunchRequest::replayed_steps.
  std::int64_t state = 0;     ///< LaunchRequest::state_steps, of a gate launch.
  std::int64_t middle = 0;    ///< LaunchRequest::middle_step, of a timed launch checked fully.
};

/// Drawn for each launch; the same again for the same seed, configuration and round. `run_steps`:
/// of the timed run with its warm-up, at least 20; 0 for a gate launch.
CheckedSteps ChooseCheckedSteps(std::uint64_t seed, std::int64_t configuration, std::int64_t round,
                                bool full, std::int64_t run_steps);

}  // namespace dlbench::experiment
