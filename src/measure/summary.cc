#include <algorithm>

#include "measure/measure.h"

namespace dlbench::measure {
namespace {

constexpr double kNsPerSecond = 1e9;
/// A mean this far above the median is reported as stalls.
constexpr double kStallRatio = 1.10;

std::int64_t DurationNs(const StepRecord& record) { return record.end_ns - record.begin_ns; }

/// Seconds per step. Two quotients and no product with 1e-9, so that 1 s is 1.0 exactly.
double StepSeconds(std::int64_t ns, std::int64_t steps) {
  return static_cast<double>(ns) / static_cast<double>(steps) / kNsPerSecond;
}

/// Every record has steps and a positive duration, and begins at or after the end of the previous.
/// No time may be negative, so that no difference overflows.
bool AreUsable(std::span<const StepRecord> records) {
  std::int64_t previous_end = 0;
  for (const StepRecord& record : records) {
    if (record.steps == 0 || record.begin_ns < previous_end || record.end_ns <= record.begin_ns) {
      return false;
    }
    previous_end = record.end_ns;
  }
  return !records.empty();
}

std::vector<double> RecordMeans(std::span<const StepRecord> records) {
  std::vector<double> means;
  means.reserve(records.size());
  for (const StepRecord& record : records) {
    means.push_back(StepSeconds(DurationNs(record), record.steps));
  }
  return means;
}

/// Mean step time of each block, in seconds; the short tail is dropped.
std::vector<double> BlockMeans(std::span<const StepRecord> records,
                               std::int64_t minimum_block_steps, std::int64_t minimum_block_ns) {
  std::vector<double> means;
  std::int64_t steps = 0;
  std::int64_t ns = 0;
  for (const StepRecord& record : records) {
    steps += record.steps;
    ns += DurationNs(record);
    if (steps < minimum_block_steps || ns < minimum_block_ns) continue;
    means.push_back(StepSeconds(ns, steps));
    steps = 0;
    ns = 0;
  }
  return means;
}

}  // namespace

std::optional<LaunchSummary> Summarize(std::span<const StepRecord> records,
                                       std::int64_t minimum_block_steps,
                                       std::int64_t minimum_block_ns) {
  if (!AreUsable(records)) return std::nullopt;
  LaunchSummary summary;
  summary.minimum_block_steps = minimum_block_steps;
  summary.minimum_block_ns = minimum_block_ns;
  std::int64_t total_ns = 0;
  bool one_by_one = true;
  for (const StepRecord& record : records) {
    summary.steps += record.steps;
    total_ns += DurationNs(record);
    one_by_one = one_by_one && record.steps == 1;
  }
  summary.mean_step_seconds = StepSeconds(total_ns, summary.steps);

  std::vector<double> blocks = BlockMeans(records, minimum_block_steps, minimum_block_ns);
  if (blocks.empty()) blocks.push_back(summary.mean_step_seconds);
  summary.blocks = static_cast<std::int64_t>(blocks.size());
  summary.median_step_seconds = *stats::Median(blocks);

  const std::vector<double> means = RecordMeans(records);
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  summary.min_step_seconds = *least;
  summary.max_step_seconds = *most;
  if (one_by_one) {
    summary.p95_step_seconds = stats::Quantile(means, 0.95);
    summary.p99_step_seconds = stats::Quantile(means, 0.99);
  }
  return summary;
}

bool HasStalls(const LaunchSummary& summary) {
  return summary.mean_step_seconds > kStallRatio * summary.median_step_seconds;
}

double SamplesPerSecond(std::int64_t batch, double step_seconds) {
  return static_cast<double>(batch) / step_seconds;
}

}  // namespace dlbench::measure
