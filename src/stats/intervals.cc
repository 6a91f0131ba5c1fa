#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/distributions.h"
#include "stats/stats.h"

namespace dlbench::stats {
namespace {

bool AllFinite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::vector<double> SortedWalshAverages(std::span<const double> values) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) {
      averages.push_back(std::midpoint(values[i], values[j]));
    }
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

double MiddleOfSorted(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : std::midpoint(sorted[half - 1], sorted[half]);
}

/// Sets the interval [sorted_(k), sorted_(N + 1 - k)]; k = 0 leaves it absent.
void SetInterval(Interval& interval, std::span<const double> sorted, int k, double achieved,
                 Method method) {
  if (k < 1) return;
  const auto index = static_cast<std::size_t>(k);
  interval.low = sorted[index - 1];
  interval.high = sorted[sorted.size() - index];
  interval.achieved_confidence = achieved;
  interval.method = method;
}

}  // namespace

std::optional<Interval> HodgesLehmann(std::span<const double> values, double confidence) {
  if (values.empty() || !AllFinite(values)) return std::nullopt;
  if (values.size() >= kMinimumForInterval && TieShare(values) > kTieLimit) {
    return SignInterval(values, confidence);
  }
  const std::vector<double> averages = SortedWalshAverages(values);
  Interval interval;
  interval.estimate = MiddleOfSorted(averages);
  const auto n = static_cast<int>(values.size());
  if (values.size() < kMinimumForInterval) return interval;
  const int k = SignedRankK(n, 1.0 - confidence);
  SetInterval(interval, averages, k, 1.0 - 2.0 * SignedRankCdf(n, k - 1), Method::kSignedRank);
  return interval;
}

std::optional<Interval> SignInterval(std::span<const double> values, double confidence) {
  if (values.empty() || !AllFinite(values)) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  Interval interval;
  interval.estimate = MiddleOfSorted(sorted);
  if (sorted.size() < kMinimumForInterval) return interval;
  constexpr std::size_t kExactBinomialLimit = 1000;
  const auto n = static_cast<int>(sorted.size());
  if (sorted.size() > kExactBinomialLimit) {
    const int k = NormalCriticalValue(0.5 * n, 0.25 * n, 1.0 - confidence);
    const double tail = NormalCdf((k - 0.5 - 0.5 * n) / std::sqrt(0.25 * n));
    SetInterval(interval, sorted, k, 1.0 - 2.0 * tail, Method::kSign);
    return interval;
  }
  const std::vector<double> probabilities = HalfBinomialDistribution(n);
  const int k = CriticalValue(probabilities, 1.0 - confidence);
  const double tail = std::accumulate(probabilities.begin(), probabilities.begin() + k, 0.0);
  SetInterval(interval, sorted, k, 1.0 - 2.0 * tail, Method::kSign);
  return interval;
}

std::optional<Interval> HodgesLehmannShift(std::span<const double> x, std::span<const double> y,
                                           double confidence) {
  if (x.empty() || y.empty() || !AllFinite(x) || !AllFinite(y)) return std::nullopt;
  std::vector<double> shifts;
  shifts.reserve(x.size() * y.size());
  for (const double from : x) {
    for (const double to : y) shifts.push_back(to - from);
  }
  std::sort(shifts.begin(), shifts.end());
  Interval interval;
  interval.estimate = MiddleOfSorted(shifts);
  const auto m = static_cast<int>(x.size());
  const auto n = static_cast<int>(y.size());
  const double alpha = 1.0 - confidence;
  int k = 0;
  if (m > kExactLimit || n > kExactLimit) {
    const double product = static_cast<double>(m) * n;
    k = NormalCriticalValue(0.5 * product, product * (m + n + 1.0) / 12.0, alpha);
  } else {
    k = CriticalValue(MannWhitneyDistribution(m, n), alpha);
  }
  SetInterval(interval, shifts, k, 1.0 - 2.0 * MannWhitneyCdf(m, n, k - 1), Method::kMannWhitney);
  return interval;
}

double MannWhitneyCdf(int m, int n, int u) {
  if (m < 1 || n < 1 || u < 0) return 0.0;
  const double largest = static_cast<double>(m) * n;
  if (u >= largest) return 1.0;
  if (m > kExactLimit || n > kExactLimit) {
    const double variance = largest * (m + n + 1.0) / 12.0;
    return NormalCdf((u + 0.5 - 0.5 * largest) / std::sqrt(variance));
  }
  const std::vector<double> probabilities = MannWhitneyDistribution(m, n);
  return std::accumulate(probabilities.begin(), probabilities.begin() + u + 1, 0.0);
}

}  // namespace dlbench::stats
