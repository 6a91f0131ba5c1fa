#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/stats.h"

namespace dlbench::measure {

/// One timed piece of a launch: `steps` steps between two readings of CLOCK_MONOTONIC.
/// steps = 1 where the framework is synchronous; larger where it waits at block ends only.
struct StepRecord {
  std::uint32_t steps = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// What one launch says, derived from its raw records alone.
struct LaunchSummary {
  double median_step_seconds = 0.0;  ///< Median of block means: the launch's one number.
  double mean_step_seconds = 0.0;    ///< Total time over total steps, same window.
  double min_step_seconds = 0.0;
  std::optional<double> p95_step_seconds;  ///< Absent where steps were not timed one by one.
  std::optional<double> p99_step_seconds;
  std::int64_t steps = 0;         ///< Timed steps used.
  std::int64_t warmup_steps = 0;  ///< W: steps cut away before.
  std::int64_t blocks = 0;
};

/// Blocks of at least `minimum_block_steps` steps and `minimum_block_ns`; a short tail is dropped
/// from the block means and kept in the mean. Nothing for no records or non-positive durations.
std::optional<LaunchSummary> Summarize(std::span<const StepRecord> records,
                                       std::int64_t minimum_block_steps = 5,
                                       std::int64_t minimum_block_ns = 20'000'000);

/// Little-endian {uint32 steps, int64 begin_ns, int64 end_ns} records, 20 bytes each, and back.
std::string EncodeRecords(std::span<const StepRecord> records);
std::optional<std::vector<StepRecord>> DecodeRecords(std::string_view blob);

/// Step time of a configuration: exp of Hodges-Lehmann on the logs of its launches' medians.
struct StepTime {
  double estimate = 0.0;      ///< Seconds.
  std::optional<double> low;  ///< Absent for fewer than 6 launches.
  std::optional<double> high;
  std::int64_t launches = 0;
};
std::optional<StepTime> EstimateStepTime(std::span<const double> launch_medians_seconds);

enum class VerdictWord { kFaster, kSlower, kEquivalent, kSmallChange, kUnresolved, kQuickLook };
/// "faster", "slower", "equivalent", "small_change", "unresolved", "quick_look".
std::string ToString(VerdictWord word);

/// a against b in the same rounds: ratio = step time of b / step time of a; above 1, a is faster.
struct Comparison {
  double ratio = 0.0;
  std::optional<double> low;
  std::optional<double> high;
  std::int64_t rounds = 0;
  VerdictWord verdict = VerdictWord::kUnresolved;
  std::optional<double> detectable_effect;  ///< Relative effect that could have been seen.
};

/// Pairs of launch medians (seconds) of the rounds in which both arms succeeded, in round order.
/// `margin`: practical margin (0.05 shared machines). Verdict words need 10 rounds; fewer rounds
/// are a quick look: interval only. Fewer than 6 rounds: no interval.
std::optional<Comparison> Compare(std::span<const double> a_seconds,
                                  std::span<const double> b_seconds, double margin = 0.05);

/// Samples per second from a step time: batch / seconds. The one place that derives it.
double SamplesPerSecond(std::int64_t batch, double step_seconds);

}  // namespace dlbench::measure
