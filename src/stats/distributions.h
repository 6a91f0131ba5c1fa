#pragma once

#include <span>
#include <vector>

namespace dlbench::stats {

/// P(S <= x) of the standard normal distribution.
double NormalCdf(double x);

/// Null distribution of a sum of which each term is taken or left with probability 1/2: element s
/// is P(sum = s) for terms that are non-negative integers (subset-sum recurrence).
std::vector<double> SubsetSumDistribution(std::span<const int> terms);
/// As above for the terms 1..n: the signed-rank statistic without ties.
std::vector<double> SignedRankDistribution(int n);
/// Element u is P(U = u) of the Mann-Whitney statistic, for m, n >= 1.
std::vector<double> MannWhitneyDistribution(int m, int n);
/// Element k is P(B = k) for B binomial(n, 1/2), n >= 1, at most 1000: 0.5^n underflows beyond.
std::vector<double> HalfBinomialDistribution(int n);

/// Largest K with P(S <= K - 1) <= alpha / 2 for the distribution above; 0 where there is none.
int CriticalValue(std::span<const double> probabilities, double alpha);
/// As CriticalValue by the normal approximation with continuity correction.
int NormalCriticalValue(double mean, double variance, double alpha);

}  // namespace dlbench::stats
