#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlbench::stats {

/// A point estimate with its interval; `low` and `high` absent means that none can be stated.
struct Interval {
  double estimate = 0.0;
  std::optional<double> low;
  std::optional<double> high;
  double achieved_confidence = 0.0;  ///< Exact coverage where known, 0 without interval.
};

/// Quantile by linear interpolation between order statistics (Hyndman and Fan 1996, type 7).
/// `values` need not be sorted; nothing for no values; p in [0, 1].
std::optional<double> Quantile(std::span<const double> values, double p);
std::optional<double> Median(std::span<const double> values);
std::optional<double> Mean(std::span<const double> values);
/// 1.4826 * median absolute deviation.
std::optional<double> ScaledMad(std::span<const double> values);
/// Lag-1 autocorrelation, mean-corrected, biased denominator; nothing for fewer than 3 values.
std::optional<double> Lag1(std::span<const double> values);

/// P(W+ <= w) of the signed-rank statistic for n values without ties (subset-sum recurrence).
double SignedRankCdf(int n, int w);
/// Largest K with P(W+ <= K - 1) <= alpha / 2; 0 where no interval exists. Exact to n = 60.
int SignedRankK(int n, double alpha);
/// Two-sided signed-rank p-value of "the median is 0", mid-ranks for ties, zeros kept.
double SignedRankP(std::span<const double> values);

/// Hodges-Lehmann estimate (median of the Walsh averages) with the exact Wilcoxon signed-rank
/// interval (Hollander and Wolfe, section 3.2). Fewer than 6 values: estimate without interval.
std::optional<Interval> HodgesLehmann(std::span<const double> values, double confidence = 0.95);
/// Median with the order-statistic (sign test) interval.
std::optional<Interval> SignInterval(std::span<const double> values, double confidence = 0.95);
/// Two-sample Hodges-Lehmann shift median(y_j - x_i) with the exact Mann-Whitney interval.
std::optional<Interval> HodgesLehmannShift(std::span<const double> x, std::span<const double> y,
                                           double confidence = 0.95);

/// Holm's step-down: whether each hypothesis is rejected at `alpha` (Holm 1979).
std::vector<bool> Holm(std::span<const double> p_values, double alpha);
/// Benjamini-Hochberg q-values (1995).
std::vector<double> BenjaminiHochberg(std::span<const double> p_values);

}  // namespace dlbench::stats
