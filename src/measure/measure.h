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
  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

/// Least size of a block: both must be reached.
inline constexpr std::int64_t kMinimumBlockSteps = 5;
inline constexpr std::int64_t kMinimumBlockNs = 20'000'000;

/// What one launch says, derived from its raw records alone.
struct LaunchSummary {
  double median_step_seconds = 0.0;  ///< Median of block means: the launch's one number.
  double mean_step_seconds = 0.0;    ///< Total time over total steps, same window.
  double min_step_seconds = 0.0;     ///< Of the records' means; one step each where synchronous.
  std::optional<double> p95_step_seconds;  ///< Absent where steps were not timed one by one.
  std::optional<double> p99_step_seconds;
  std::int64_t steps = 0;         ///< Timed steps used.
  std::int64_t warmup_steps = 0;  ///< W: steps cut away before; set by who cut them.
  std::int64_t blocks = 0;
  double max_step_seconds = 0.0;                          ///< Of the records' means.
  std::int64_t minimum_block_steps = kMinimumBlockSteps;  ///< How the blocks were formed.
  std::int64_t minimum_block_ns = kMinimumBlockNs;
};

/// Summary of the records after warm-up (the caller cuts it). Blocks of at least
/// `minimum_block_steps` steps and `minimum_block_ns`; a short tail is dropped from the block means
/// and kept in the mean; a window shorter than one block is itself the block. Percentiles: type 7.
/// Nothing for no records, records without steps, non-positive durations, or records that overlap
/// or run backwards.
std::optional<LaunchSummary> Summarize(std::span<const StepRecord> records,
                                       std::int64_t minimum_block_steps = kMinimumBlockSteps,
                                       std::int64_t minimum_block_ns = kMinimumBlockNs);

/// True where the mean is more than 10 % above the median: the launch had stalls, which the median
/// does not show.
bool HasStalls(const LaunchSummary& summary);

/// Little-endian {uint32 steps, int64 begin_ns, int64 end_ns} records, 20 bytes each, and back.
std::string EncodeRecords(std::span<const StepRecord> records);
/// Nothing for a blob whose size is no multiple of 20 bytes.
std::optional<std::vector<StepRecord>> DecodeRecords(std::string_view blob);

/// Step time of a configuration: exp of Hodges-Lehmann on the logs of its launches' medians.
struct StepTime {
  double estimate = 0.0;      ///< Seconds.
  std::optional<double> low;  ///< Absent for fewer than 6 launches.
  std::optional<double> high;
  std::int64_t launches = 0;
  /// Between launches, of the logs (stats::Spread; the sample deviation if multimodal): 0.05 is 5
  /// %.
  std::optional<double> spread;
  bool multimodal = false;  ///< IsMultimodal of the logs: the estimate may describe no launch.
};
/// From the medians of the launches that succeeded, in seconds. A failed launch has no number and
/// must not be here: nothing for no launches or a median that is not positive and finite.
std::optional<StepTime> EstimateStepTime(std::span<const double> launch_medians_seconds);

/// True where at least 6 values fall in two groups, each of at least 2 values and a fifth of all,
/// and the gap between the groups is above 0.1 and above the range of either group.
bool IsMultimodal(std::span<const double> logs);

enum class VerdictWord { kFaster, kSlower, kEquivalent, kSmallChange, kUnresolved, kQuickLook };
/// "faster", "slower", "equivalent", "small_change", "unresolved", "quick_look".
std::string ToString(VerdictWord word);
/// The word that ToString wrote; nothing for any other text.
std::optional<VerdictWord> ParseVerdictWord(std::string_view text);

/// Fewest rounds for a verdict word.
inline constexpr std::int64_t kMinimumRoundsForVerdict = 10;
/// Practical margin on shared machines.
inline constexpr double kDefaultMargin = 0.05;

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
/// are a quick look: interval only. Fewer than 6 rounds: no interval. With e and [L, U] the
/// estimate and 95 % interval of log(b / a) and m = log(1 + margin), the first match wins: faster:
/// L > 0 and e > m; slower: U < 0 and e < -m; equivalent: L and U inside -m..m; small_change: [L,
/// U] without 0 and e inside -m..m; else unresolved. Whatever matched, the verdict is unresolved
/// where the median of the sign test lies on another side of the margin than e, or where the rounds
/// fall in two groups on both sides of 0 (IsMultimodal). Nothing for no rounds, unequal counts, or
/// a time that is not positive and finite.
std::optional<Comparison> Compare(std::span<const double> a_seconds,
                                  std::span<const double> b_seconds,
                                  double margin = kDefaultMargin);

/// Relative effect that `rounds` rounds could have shown: exp(2.8 s / sqrt(rounds)) - 1, where
/// `spread` = s is that of the per-round log ratios (1.96 + 0.84: 5 % two-sided, power 80 %).
double DetectableEffect(double spread, std::int64_t rounds);

/// Samples per second from a step time: batch / seconds. The one place that derives it.
double SamplesPerSecond(std::int64_t batch, double step_seconds);

}  // namespace dlbench::measure
