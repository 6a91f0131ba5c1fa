#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "stats/stats.h"

namespace dlbench::stats {
namespace {

using testing::DoubleNear;
using testing::Optional;

// Depression scores before and after (Hollander and Wolfe, table 3.1): W+ = 40 for n = 9.
const std::vector<double> kBefore{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
const std::vector<double> kAfter{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
// Permeability of the chorioamnion (Hollander and Wolfe, table 4.1).
const std::vector<double> kTerm{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
const std::vector<double> kEarly{1.15, 0.88, 0.90, 0.74, 1.21};

std::vector<double> Improvement() {
  std::vector<double> differences;
  for (std::size_t i = 0; i < kBefore.size(); ++i) differences.push_back(kBefore[i] - kAfter[i]);
  return differences;
}

struct Critical {
  int n;
  int k;
  double achieved;
};

TEST(SignedRank, CriticalValuesAt95PercentAreThePublishedOnes) {
  for (const auto& [n, k, achieved] :
       {Critical{6, 1, .9688}, Critical{7, 3, .9531}, Critical{8, 4, .9609}, Critical{9, 6, .9609},
        Critical{10, 9, .9512}, Critical{12, 14, .9575}, Critical{15, 26, .9521},
        Critical{20, 53, .9516}, Critical{25, 90, .9517}}) {
    EXPECT_EQ(SignedRankK(n, 0.05), k) << n;
    EXPECT_NEAR(1 - 2 * SignedRankCdf(n, k - 1), achieved, 5e-5) << n;
  }
}

TEST(SignedRank, CriticalValuesAt99PercentAreThePublishedOnes) {
  EXPECT_EQ(SignedRankK(8, 0.01), 1);
  EXPECT_EQ(SignedRankK(10, 0.01), 4);
  EXPECT_EQ(SignedRankK(15, 0.01), 16);
  EXPECT_EQ(SignedRankK(20, 0.01), 38);
}

TEST(SignedRank, FewerThanSixHaveNoCriticalValue) {
  for (int n = 0; n < 6; ++n) EXPECT_EQ(SignedRankK(n, 0.05), 0) << n;
  EXPECT_EQ(SignedRankK(7, 0.01), 0);
}

TEST(SignedRank, LevelReachedExactlyCounts) { EXPECT_EQ(SignedRankK(5, 1.0 / 16), 1); }

TEST(SignedRank, LeastTwoSidedP) {
  const auto least = [](std::size_t n) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    return SignedRankP(values);
  };
  EXPECT_NEAR(least(6), .03125, 1e-12);
  EXPECT_NEAR(least(8), .0078125, 1e-12);
  EXPECT_NEAR(least(10), .001953125, 1e-12);
  EXPECT_NEAR(least(12), .00048828125, 1e-12);
}

TEST(SignedRank, DistributionIsSymmetricAndSumsToOne) {
  EXPECT_DOUBLE_EQ(SignedRankCdf(10, 55), 1.0);
  EXPECT_EQ(SignedRankCdf(10, -1), 0.0);
  for (int w = 0; w < 55; ++w) {
    EXPECT_NEAR(SignedRankCdf(10, w), 1 - SignedRankCdf(10, 54 - w), 1e-12) << w;
  }
}

TEST(SignedRank, ExactAndApproximateMeetAtSixty) {
  // The approximation starts at 61: K grows smoothly across the seam.
  const int at_59 = SignedRankK(59, 0.05);
  const int at_60 = SignedRankK(60, 0.05);
  const int at_61 = SignedRankK(61, 0.05);
  EXPECT_NEAR(at_61 - at_60, at_60 - at_59, 2);
  EXPECT_NEAR(1 - 2 * SignedRankCdf(61, at_61 - 1), 0.95, 2e-3);
}

TEST(SignedRank, IsExactFarIntoTheTailToSixty) {
  // Two of the 2^n sums are at most 1, three at most 2; the approximation is far off there.
  for (const int n : {26, 40, 60}) {
    EXPECT_EQ(SignedRankK(n, 4.0 * std::pow(0.5, n)), 2) << n;
    EXPECT_DOUBLE_EQ(SignedRankCdf(n, 2), 3.0 * std::pow(0.5, n)) << n;
  }
}

TEST(SignedRank, ApproximationFollowsTheRequestedLevel) {
  EXPECT_LT(SignedRankK(100, 0.01), SignedRankK(100, 0.05));
  EXPECT_LT(SignedRankK(100, 0.05), SignedRankK(100, 0.10));
  EXPECT_NEAR(SignedRankCdf(100, SignedRankK(100, 0.01) - 1), 0.005, 1e-4);
}

TEST(SignedRank, PublishedPValue) { EXPECT_NEAR(SignedRankP(Improvement()), 2 * .01953125, 1e-9); }

TEST(SignedRank, ZerosAreRankedAndCountForNeitherSide) {
  // Ranks of 0, 1, 2, 3 are 1 to 4; of the sums of {2, 3, 4} only the empty one is as low as 0.
  EXPECT_NEAR(SignedRankP(std::vector<double>{0, 1, 2, 3}), 0.25, 1e-12);
  EXPECT_EQ(SignedRankP(std::vector<double>{0, 0, 0}), 1.0);
  EXPECT_EQ(SignedRankP(std::vector<double>{}), 1.0);
}

TEST(SignedRank, TiesTakeMidRanks) {
  // |v| = 1, 1, 2: ranks 1.5, 1.5, 3. W- = 1.5 or less has 3 of 8 sums: {}, {1.5}, {1.5}.
  EXPECT_NEAR(SignedRankP(std::vector<double>{1, -1, 2}), 0.75, 1e-12);
}

TEST(SignedRank, PIsOneForPerfectBalance) {
  EXPECT_EQ(SignedRankP(std::vector<double>{1, -1, 2, -2}), 1.0);
}

TEST(SignedRank, LargeSampleUsesTheApproximation) {
  std::vector<double> values(100);
  std::iota(values.begin(), values.end(), 1.0);
  EXPECT_LT(SignedRankP(values), 1e-15);
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] = -values[i];
  EXPECT_GT(SignedRankP(values), 0.8);
}

TEST(HodgesLehmann, PublishedExample) {
  const auto interval = HodgesLehmann(Improvement());
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->estimate, 0.46, 1e-9);
  EXPECT_THAT(interval->low, Optional(DoubleNear(0.010, 1e-9)));
  EXPECT_THAT(interval->high, Optional(DoubleNear(0.786, 1e-9)));
  EXPECT_NEAR(interval->achieved_confidence, 0.961, 5e-4);
  EXPECT_EQ(interval->method, Method::kSignedRank);
}

TEST(HodgesLehmann, SixValuesByHand) {
  // K = 1: the interval is the range. Of 1, 2, 4, 8, 16, 32 the 21 Walsh averages sort as
  // 1 1.5 2 2.5 3 4 4.5 5 6 8 8.5 9 10 12 16 16.5 17 18 20 24 32; the 11th is 8.5.
  const auto interval = HodgesLehmann(std::vector<double>{32, 1, 2, 16, 4, 8});
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->estimate, 8.5);
  EXPECT_THAT(interval->low, Optional(1.0));
  EXPECT_THAT(interval->high, Optional(32.0));
  EXPECT_NEAR(interval->achieved_confidence, 0.96875, 1e-12);
}

TEST(C18, FewerThanSixValuesHaveAnEstimateAndNoInterval) {
  std::vector<double> values;
  for (int n = 1; n < 6; ++n) {
    values.push_back(n);
    for (const auto& interval : {HodgesLehmann(values), SignInterval(values)}) {
      ASSERT_TRUE(interval) << n;
      EXPECT_DOUBLE_EQ(interval->estimate, 0.5 * (n + 1));
      EXPECT_FALSE(interval->low) << n;
      EXPECT_FALSE(interval->high) << n;
      EXPECT_EQ(interval->achieved_confidence, 0.0);
      EXPECT_EQ(interval->method, Method::kNone);
    }
  }
}

TEST(HodgesLehmann, SevenValuesHaveNoIntervalAt99Percent) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7};
  EXPECT_TRUE(HodgesLehmann(values, 0.95)->low);
  EXPECT_FALSE(HodgesLehmann(values, 0.99)->low);
}

TEST(HodgesLehmann, NoValuesOrUnfinishedOnesGiveNothing) {
  EXPECT_FALSE(HodgesLehmann({}));
  EXPECT_FALSE(SignInterval({}));
  const std::vector<double> infinite{1, 2, 3, 4, 5, std::numeric_limits<double>::infinity()};
  EXPECT_FALSE(HodgesLehmann(infinite));
  EXPECT_FALSE(SignInterval(infinite));
  EXPECT_FALSE(HodgesLehmannShift(infinite, kTerm));
  EXPECT_FALSE(HodgesLehmannShift(kTerm, infinite));
}

TEST(HodgesLehmann, MoreThanAFifthEqualFallsBackToTheSignTest) {
  const std::vector<double> tied{1, 1, 1, 4, 5, 6, 7, 8, 9, 10};  // 30 %
  const auto interval = HodgesLehmann(tied);
  const auto sign = SignInterval(tied);
  EXPECT_EQ(interval->method, Method::kSign);
  EXPECT_EQ(interval->estimate, sign->estimate);
  EXPECT_EQ(interval->low, sign->low);
  const std::vector<double> few{1, 1, 3, 4, 5, 6, 7, 8, 9, 10};  // 20 %
  EXPECT_EQ(HodgesLehmann(few)->method, Method::kSignedRank);
}

TEST(SignInterval, TenValuesByHand) {
  // Binomial(10, 1/2): P(B <= 1) = 11/1024 <= .025 < P(B <= 2) = 56/1024, so k = 2.
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto interval = SignInterval(values);
  EXPECT_DOUBLE_EQ(interval->estimate, 5.5);
  EXPECT_THAT(interval->low, Optional(2.0));
  EXPECT_THAT(interval->high, Optional(9.0));
  EXPECT_NEAR(interval->achieved_confidence, 1 - 22.0 / 1024, 1e-12);
  EXPECT_EQ(interval->method, Method::kSign);
}

TEST(SignInterval, LargeSampleMeetsTheExactOne) {
  std::vector<double> values(1001);
  std::iota(values.begin(), values.end(), 0.0);
  const auto approximate = SignInterval(values);
  values.pop_back();
  const auto exact = SignInterval(values);
  EXPECT_NEAR(*approximate->low, *exact->low, 1.0);
  EXPECT_NEAR(approximate->achieved_confidence, exact->achieved_confidence, 5e-3);
}

TEST(MannWhitney, CriticalValuesAreThePublishedOnes) {
  // Two-sided 5 % table: U at or below rejects.
  for (const auto& [n, u] : {std::pair{5, 2}, {8, 13}, {10, 23}, {12, 37}, {15, 64}, {20, 127}}) {
    EXPECT_LE(MannWhitneyCdf(n, n, u), 0.025) << n;
    EXPECT_GT(MannWhitneyCdf(n, n, u + 1), 0.025) << n;
  }
}

TEST(MannWhitney, SmallDistributionByHand) {
  // m = 2, n = 3: 10 arrangements, U = 0..6 in 1, 1, 2, 2, 2, 1, 1 of them.
  const std::vector<double> cumulative{.1, .2, .4, .6, .8, .9, 1.0};
  for (int u = 0; u <= 6; ++u) {
    EXPECT_NEAR(MannWhitneyCdf(2, 3, u), cumulative[static_cast<std::size_t>(u)], 1e-12) << u;
    EXPECT_NEAR(MannWhitneyCdf(3, 2, u), cumulative[static_cast<std::size_t>(u)], 1e-12) << u;
  }
  EXPECT_EQ(MannWhitneyCdf(2, 3, -1), 0.0);
}

TEST(MannWhitney, ApproximationMeetsTheExactDistribution) {
  EXPECT_NEAR(MannWhitneyCdf(60, 60, 1440), MannWhitneyCdf(61, 60, 1464), 3e-3);
}

TEST(HodgesLehmannShift, PublishedExample) {
  const auto interval = HodgesLehmannShift(kEarly, kTerm);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->estimate, 0.305, 1e-9);
  EXPECT_THAT(interval->low, Optional(DoubleNear(-0.15, 1e-9)));
  EXPECT_THAT(interval->high, Optional(DoubleNear(0.76, 1e-9)));
  EXPECT_EQ(interval->method, Method::kMannWhitney);
  EXPECT_GE(interval->achieved_confidence, 0.95);
}

TEST(HodgesLehmannShift, SamplesTooSmallHaveNoInterval) {
  const std::vector<double> three{1, 2, 3};
  EXPECT_FALSE(HodgesLehmannShift(three, three)->low);
  EXPECT_DOUBLE_EQ(HodgesLehmannShift(three, three)->estimate, 0.0);
  EXPECT_FALSE(HodgesLehmannShift({}, three));
}

}  // namespace
}  // namespace dlbench::stats
