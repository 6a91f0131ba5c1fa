#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace dlbench::stats {

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

std::vector<double> SubsetSumDistribution(std::span<const int> terms) {
  std::vector<double> probabilities{1.0};
  for (const int term : terms) {
    const auto shift = static_cast<std::size_t>(term);
    std::vector<double> next(probabilities.size() + shift, 0.0);
    for (std::size_t s = 0; s < probabilities.size(); ++s) {
      next[s] += 0.5 * probabilities[s];
      next[s + shift] += 0.5 * probabilities[s];
    }
    probabilities = std::move(next);
  }
  return probabilities;
}

std::vector<double> SignedRankDistribution(int n) {
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 1);
  return SubsetSumDistribution(ranks);
}

std::vector<double> MannWhitneyDistribution(int m, int n) {
  // counts[k * width + u]: ways to choose k of the pooled ranks seen so far with statistic u. The
  // value at pooled position i that is the k-th of its sample exceeds i - k + 1 of the other one.
  const auto width = static_cast<std::size_t>(m) * static_cast<std::size_t>(n) + 1;
  std::vector<double> counts((static_cast<std::size_t>(m) + 1) * width, 0.0);
  counts[0] = 1.0;
  for (int i = 0; i < m + n; ++i) {
    for (int k = std::min(i + 1, m); k >= std::max(1, i - n + 1); --k) {
      const auto step = static_cast<std::size_t>(i - k + 1);
      const double* from = &counts[static_cast<std::size_t>(k - 1) * width];
      double* to = &counts[static_cast<std::size_t>(k) * width];
      for (std::size_t u = step; u < width; ++u) to[u] += from[u - step];
    }
  }
  std::vector<double> chosen(counts.end() - static_cast<std::ptrdiff_t>(width), counts.end());
  const double total = std::accumulate(chosen.begin(), chosen.end(), 0.0);
  for (double& probability : chosen) probability /= total;
  return chosen;
}

std::vector<double> HalfBinomialDistribution(int n) {
  std::vector<double> probabilities{std::pow(0.5, n)};
  for (int k = 1; k <= n; ++k) {
    probabilities.push_back(probabilities.back() * static_cast<double>(n - k + 1) / k);
  }
  return probabilities;
}

int CriticalValue(std::span<const double> probabilities, double alpha) {
  // The sums are exact to about 1e-15; a level such as 1/32 must count as reached.
  const double limit = 0.5 * alpha * (1.0 + 1e-12);
  double sum = 0.0;
  int critical = 0;
  for (const double probability : probabilities) {
    sum += probability;
    if (sum > limit) break;
    ++critical;
  }
  return critical;
}

int NormalCriticalValue(double mean, double variance, double alpha) {
  int low = 0;
  auto high = static_cast<int>(mean);
  while (low < high) {
    const int middle = high - (high - low) / 2;
    if (NormalCdf((middle - 0.5 - mean) / std::sqrt(variance)) <= 0.5 * alpha) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace dlbench::stats
