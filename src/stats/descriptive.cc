#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/stats.h"

namespace dlbench::stats {
namespace {

/// Makes 1.4826 * MAD estimate the standard deviation of a normal distribution: 1 / Phi^-1(3/4).
constexpr double kMadToDeviation = 1.4826;
/// The MAD of fewer values is too rough to be used as a spread.
constexpr std::size_t kMinimumForMad = 8;

std::vector<double> Sorted(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

std::optional<double> Quantile(std::span<const double> values, double p) {
  if (values.empty() || !(p >= 0.0 && p <= 1.0)) return std::nullopt;
  const std::vector<double> sorted = Sorted(values);
  const double position = p * static_cast<double>(sorted.size() - 1);
  const double below = std::floor(position);
  const auto index = static_cast<std::size_t>(below);
  if (index + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[index], sorted[index + 1], position - below);
}

std::optional<double> Median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> work(values.begin(), values.end());
  const auto middle = work.begin() + static_cast<std::ptrdiff_t>(work.size() / 2);
  std::nth_element(work.begin(), middle, work.end());
  if (work.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(work.begin(), middle), *middle);
}

std::optional<double> Mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> SampleDeviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = *Mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<double> ScaledMad(std::span<const double> values) {
  const std::optional<double> median = Median(values);
  if (!median) return std::nullopt;
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - *median));
  return kMadToDeviation * *Median(deviations);
}

std::optional<double> Spread(std::span<const double> values) {
  if (values.size() >= kMinimumForMad) {
    const double robust = *ScaledMad(values);
    if (robust > 0.0) return robust;
  }
  return SampleDeviation(values);
}

std::optional<double> Lag1(std::span<const double> values) {
  if (values.size() < 3) return std::nullopt;
  const double mean = *Mean(values);
  double squares = 0.0;
  double products = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0) products += (values[i] - mean) * (values[i - 1] - mean);
  }
  if (!(squares > 0.0)) return std::nullopt;
  return products / squares;
}

double TieShare(std::span<const double> values) {
  if (values.empty()) return 0.0;
  const std::vector<double> sorted = Sorted(values);
  std::size_t tied = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool as_before = i > 0 && sorted[i] == sorted[i - 1];
    const bool as_after = i + 1 < sorted.size() && sorted[i] == sorted[i + 1];
    if (as_before || as_after) ++tied;
  }
  return static_cast<double>(tied) / static_cast<double>(sorted.size());
}

}  // namespace dlbench::stats
