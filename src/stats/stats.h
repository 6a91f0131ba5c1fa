#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlbench::stats {

/// Where an interval comes from.
enum class Method {
  kNone,         ///< No interval.
  kSignedRank,   ///< Wilcoxon signed rank.
  kSign,         ///< Order statistics (sign test); also the fallback for tied values.
  kMannWhitney,  ///< Two samples.
};

/// A point estimate with its interval; `low` and `high` absent means that none can be stated.
struct Interval {
  double estimate = 0.0;
  std::optional<double> low;
  std::optional<double> high;
  double achieved_confidence = 0.0;  ///< Exact coverage where known, 0 without interval.
  Method method = Method::kNone;     ///< Which test the interval inverts.
};

/// Fewest values for which a one-sample interval is stated: 2 / 2^6 is the first two-sided level
/// below 5 %.
inline constexpr std::size_t kMinimumForInterval = 6;
/// Largest sample whose null distribution is computed exactly.
inline constexpr int kExactLimit = 60;
/// Above this share of equal values the signed rank gives way to the sign test.
inline constexpr double kTieLimit = 0.20;

/// Quantile by linear interpolation between order statistics (Hyndman and Fan 1996, type 7).
/// `values` need not be sorted; nothing for no values; p in [0, 1].
std::optional<double> Quantile(std::span<const double> values, double p);
/// Middle value, or the mean of the two middle ones; nothing for no values.
std::optional<double> Median(std::span<const double> values);
/// Arithmetic mean; nothing for no values.
std::optional<double> Mean(std::span<const double> values);
/// Sample standard deviation (n - 1 in the denominator): belongs to the mean. Nothing for fewer
/// than 2 values.
std::optional<double> SampleDeviation(std::span<const double> values);
/// 1.4826 * median absolute deviation: belongs to the median.
std::optional<double> ScaledMad(std::span<const double> values);
/// Spread between launches: ScaledMad from 8 values on, else SampleDeviation; also the latter where
/// half of the values are equal and the former is 0. Nothing for fewer than 2 values.
std::optional<double> Spread(std::span<const double> values);
/// Lag-1 autocorrelation, mean-corrected, biased denominator; nothing for fewer than 3 values or
/// constant ones.
std::optional<double> Lag1(std::span<const double> values);
/// Share of the values that equal another one, 0 to 1; 0 for no values.
double TieShare(std::span<const double> values);

/// P(W+ <= w) of the signed-rank statistic for n values without ties (subset-sum recurrence).
/// Beyond kExactLimit the normal approximation with continuity correction.
double SignedRankCdf(int n, int w);
/// Largest K with P(W+ <= K - 1) <= alpha / 2; 0 where no interval exists. Exact to n = 60.
int SignedRankK(int n, double alpha);
/// Two-sided signed-rank p-value of "the median is 0", mid-ranks for ties, zeros kept: they are
/// ranked and count for neither side (Pratt 1959). Exact given the ties to n = 60; 1 for no values.
double SignedRankP(std::span<const double> values);
/// P(U <= u) of the Mann-Whitney statistic for samples of m and n values without ties. Exact to
/// m, n = 60, beyond that the normal approximation with continuity correction.
double MannWhitneyCdf(int m, int n, int u);

/// Hodges-Lehmann estimate (median of the Walsh averages) with the exact Wilcoxon signed-rank
/// interval (Hollander and Wolfe, section 3.2). Fewer than 6 values: estimate without interval.
/// More than 20 % equal values: the median with its sign-test interval, `method` says so. Nothing
/// for no values or a value that is not finite.
std::optional<Interval> HodgesLehmann(std::span<const double> values, double confidence = 0.95);
/// Median with the order-statistic (sign test) interval; limits and absence as HodgesLehmann.
std::optional<Interval> SignInterval(std::span<const double> values, double confidence = 0.95);
/// Two-sample Hodges-Lehmann shift median(y_j - x_i) with the exact Mann-Whitney interval
/// (Hollander and Wolfe, section 4.3), conservative for ties. Without interval where the samples
/// are too small for `confidence`.
std::optional<Interval> HodgesLehmannShift(std::span<const double> x, std::span<const double> y,
                                           double confidence = 0.95);

/// Holm's step-down: whether each hypothesis is rejected at `alpha` (Holm 1979).
std::vector<bool> Holm(std::span<const double> p_values, double alpha);
/// Benjamini-Hochberg q-values (1995).
std::vector<double> BenjaminiHochberg(std::span<const double> p_values);

}  // namespace dlbench::stats
