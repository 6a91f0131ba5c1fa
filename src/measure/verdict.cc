#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "measure/measure.h"

namespace dlbench::measure {
namespace {

constexpr std::array<std::pair<VerdictWord, std::string_view>, 6> kWords{{
    {VerdictWord::kFaster, "faster"},
    {VerdictWord::kSlower, "slower"},
    {VerdictWord::kEquivalent, "equivalent"},
    {VerdictWord::kSmallChange, "small_change"},
    {VerdictWord::kUnresolved, "unresolved"},
    {VerdictWord::kQuickLook, "quick_look"},
}};

/// Two modes closer than this are one for our purposes: it is twice the margin of a shared machine.
constexpr double kMinimumModeGap = 0.10;
/// The smaller mode has at least 1 / 5 of the values.
constexpr std::size_t kModeShare = 5;
constexpr std::size_t kMinimumModeSize = 2;

/// Logs of times; nothing where one is not positive and finite.
std::optional<std::vector<double>> Logs(std::span<const double> seconds) {
  std::vector<double> logs;
  logs.reserve(seconds.size());
  for (const double value : seconds) {
    if (!std::isfinite(value) || !(value > 0.0)) return std::nullopt;
    logs.push_back(std::log(value));
  }
  return logs;
}

/// Where `sorted` falls in two groups: the index of the second one's first value.
std::optional<std::size_t> SplitOfModes(std::span<const double> sorted) {
  if (sorted.size() < stats::kMinimumForInterval) return std::nullopt;
  const std::size_t least =
      std::max(kMinimumModeSize, (sorted.size() + kModeShare - 1) / kModeShare);
  for (std::size_t split = least; split + least <= sorted.size(); ++split) {
    const double gap = sorted[split] - sorted[split - 1];
    const double widest =
        std::max(sorted[split - 1] - sorted.front(), sorted.back() - sorted[split]);
    if (gap > kMinimumModeGap && gap > widest) return split;
  }
  return std::nullopt;
}

std::vector<double> Sorted(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// The rounds tell two stories: in one group a is faster, in the other slower.
bool ModesDisagree(std::span<const double> differences) {
  const std::vector<double> sorted = Sorted(differences);
  const std::optional<std::size_t> split = SplitOfModes(sorted);
  return split && sorted[*split - 1] < 0.0 && sorted[*split] > 0.0;
}

/// -1, 0 or 1: below, inside or above the margin.
int Side(double effect, double log_margin) {
  return effect > log_margin ? 1 : effect < -log_margin ? -1 : 0;
}

/// The table above, for an interval that exists.
VerdictWord Match(double estimate, double low, double high, double log_margin) {
  const int side = Side(estimate, log_margin);
  if (low > 0.0 && side > 0) return VerdictWord::kFaster;
  if (high < 0.0 && side < 0) return VerdictWord::kSlower;
  if (-log_margin < low && high < log_margin) return VerdictWord::kEquivalent;
  if ((low > 0.0 || high < 0.0) && side == 0) return VerdictWord::kSmallChange;
  return VerdictWord::kUnresolved;
}

VerdictWord Judge(std::span<const double> differences, const stats::Interval& interval,
                  double margin) {
  if (static_cast<std::int64_t>(differences.size()) < kMinimumRoundsForVerdict) {
    return VerdictWord::kQuickLook;
  }
  if (!interval.low || !interval.high) return VerdictWord::kUnresolved;
  const double log_margin = std::log1p(margin);
  const double sign_median = *stats::Median(differences);
  const bool sides_differ = Side(interval.estimate, log_margin) != Side(sign_median, log_margin);
  if (sides_differ || ModesDisagree(differences)) return VerdictWord::kUnresolved;
  return Match(interval.estimate, *interval.low, *interval.high, log_margin);
}

}  // namespace

std::string ToString(VerdictWord word) {
  for (const auto& [known, text] : kWords) {
    if (known == word) return std::string(text);
  }
  return "unresolved";
}

std::optional<VerdictWord> ParseVerdictWord(std::string_view text) {
  for (const auto& [word, known] : kWords) {
    if (known == text) return word;
  }
  return std::nullopt;
}

bool IsMultimodal(std::span<const double> logs) { return SplitOfModes(Sorted(logs)).has_value(); }

namespace {

/// The spread of logs. The median absolute deviation does not see a second mode of less than half
/// of the values; the sample deviation does.
std::optional<double> SpreadOf(std::span<const double> logs) {
  return IsMultimodal(logs) ? stats::SampleDeviation(logs) : stats::Spread(logs);
}

}  // namespace

std::optional<StepTime> EstimateStepTime(std::span<const double> launch_medians_seconds) {
  const auto logs = Logs(launch_medians_seconds);
  if (!logs) return std::nullopt;
  const std::optional<stats::Interval> interval = stats::HodgesLehmann(*logs);
  if (!interval) return std::nullopt;
  StepTime time;
  time.estimate = std::exp(interval->estimate);
  if (interval->low) time.low = std::exp(*interval->low);
  if (interval->high) time.high = std::exp(*interval->high);
  time.launches = static_cast<std::int64_t>(logs->size());
  time.spread = SpreadOf(*logs);
  time.multimodal = IsMultimodal(*logs);
  return time;
}

double DetectableEffect(double spread, std::int64_t rounds) {
  constexpr double kTwoSidedWithPower = 2.8;
  return std::expm1(kTwoSidedWithPower * spread / std::sqrt(static_cast<double>(rounds)));
}

std::optional<Comparison> Compare(std::span<const double> a_seconds,
                                  std::span<const double> b_seconds, double margin) {
  if (a_seconds.size() != b_seconds.size()) return std::nullopt;
  auto differences = Logs(b_seconds);
  const auto a_logs = Logs(a_seconds);
  if (!differences || !a_logs) return std::nullopt;
  for (std::size_t i = 0; i < differences->size(); ++i) (*differences)[i] -= (*a_logs)[i];
  const std::optional<stats::Interval> interval = stats::HodgesLehmann(*differences);
  if (!interval) return std::nullopt;

  Comparison comparison;
  comparison.rounds = static_cast<std::int64_t>(differences->size());
  comparison.ratio = std::exp(interval->estimate);
  if (interval->low) comparison.low = std::exp(*interval->low);
  if (interval->high) comparison.high = std::exp(*interval->high);
  comparison.verdict = Judge(*differences, *interval, margin);
  if (const std::optional<double> spread = SpreadOf(*differences)) {
    comparison.detectable_effect = DetectableEffect(*spread, comparison.rounds);
  }
  return comparison;
}

}  // namespace dlbench::measure
