#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/distributions.h"
#include "stats/stats.h"

namespace dlbench::stats {
namespace {

/// Mean and variance of the signed-rank statistic (Hollander and Wolfe, section 3.1).
double NullMean(int n) { return n * (n + 1.0) / 4.0; }
double NullVariance(int n) { return n * (n + 1.0) * (2.0 * n + 1.0) / 24.0; }

/// Twice the mid-ranks of |values|, so that they are integers; with sign, 0 for zeros.
std::vector<int> DoubledSignedRanks(std::span<const double> values) {
  std::vector<double> ordered(values.begin(), values.end());
  std::sort(ordered.begin(), ordered.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  std::vector<int> ranks;
  for (std::size_t first = 0; first < ordered.size();) {
    std::size_t end = first + 1;
    while (end < ordered.size() && std::abs(ordered[end]) == std::abs(ordered[first])) ++end;
    const auto doubled = static_cast<int>(first + 1 + end);
    for (std::size_t i = first; i < end; ++i) {
      ranks.push_back(ordered[i] > 0.0 ? doubled : ordered[i] < 0.0 ? -doubled : 0);
    }
    first = end;
  }
  return ranks;
}

/// P(sum <= statistic) where each term is taken or left with probability 1/2.
double LowerTail(std::span<const int> terms, int statistic) {
  if (terms.size() <= static_cast<std::size_t>(kExactLimit)) {
    const std::vector<double> probabilities = SubsetSumDistribution(terms);
    return std::accumulate(probabilities.begin(), probabilities.begin() + statistic + 1, 0.0);
  }
  double mean = 0.0;
  double variance = 0.0;
  for (const int term : terms) {
    mean += 0.5 * term;
    variance += 0.25 * term * term;
  }
  return NormalCdf((statistic + 1.0 - mean) / std::sqrt(variance));  // 1.0: half a rank, doubled.
}

}  // namespace

double SignedRankCdf(int n, int w) {
  if (w < 0) return 0.0;
  if (w >= n * (n + 1) / 2) return 1.0;
  if (n > kExactLimit) return NormalCdf((w + 0.5 - NullMean(n)) / std::sqrt(NullVariance(n)));
  const std::vector<double> probabilities = SignedRankDistribution(n);
  return std::accumulate(probabilities.begin(), probabilities.begin() + w + 1, 0.0);
}

int SignedRankK(int n, double alpha) {
  if (n < 1) return 0;
  if (n > kExactLimit) return NormalCriticalValue(NullMean(n), NullVariance(n), alpha);
  return CriticalValue(SignedRankDistribution(n), alpha);
}

double SignedRankP(std::span<const double> values) {
  std::vector<int> terms;
  int positive = 0;
  int total = 0;
  for (const int rank : DoubledSignedRanks(values)) {
    if (rank == 0) continue;
    terms.push_back(std::abs(rank));
    total += std::abs(rank);
    positive += std::max(rank, 0);
  }
  if (terms.empty()) return 1.0;
  // The null distribution is symmetric: the upper tail is the lower tail of the negative sum.
  return std::min(1.0, 2.0 * LowerTail(terms, std::min(positive, total - positive)));
}

}  // namespace dlbench::stats
