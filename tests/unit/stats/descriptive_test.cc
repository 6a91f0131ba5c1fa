#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/stats.h"

namespace dlbench::stats {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Optional;

TEST(C23, MeanGoesWithDeviationAndMedianWithMad) {
  const std::vector<double> ms{10, 10, 10, 10, 100};
  EXPECT_THAT(Mean(ms), Optional(28.0));
  EXPECT_THAT(SampleDeviation(ms), Optional(DoubleNear(40.249, 5e-4)));
  EXPECT_THAT(Median(ms), Optional(10.0));
  EXPECT_THAT(ScaledMad(ms), Optional(0.0));
}

TEST(Descriptive, NothingIsSaidAboutNoValues) {
  const std::vector<double> none;
  EXPECT_FALSE(Mean(none));
  EXPECT_FALSE(Median(none));
  EXPECT_FALSE(Quantile(none, 0.5));
  EXPECT_FALSE(ScaledMad(none));
  EXPECT_FALSE(SampleDeviation(none));
  EXPECT_FALSE(Spread(none));
  EXPECT_FALSE(Lag1(none));
  EXPECT_EQ(TieShare(none), 0.0);
}

TEST(C18, OneValueHasNoSpread) {
  const std::vector<double> one{3.0};
  EXPECT_THAT(Mean(one), Optional(3.0));
  EXPECT_THAT(Median(one), Optional(3.0));
  EXPECT_FALSE(SampleDeviation(one));
  EXPECT_FALSE(Spread(one));
  const std::vector<double> two{3.0, 5.0};
  EXPECT_THAT(Spread(two), Optional(DoubleNear(std::sqrt(2.0), 1e-15)));
}

TEST(Descriptive, QuantileIsTypeSeven) {
  const std::vector<double> values{4, 1, 3, 2};  // R: quantile(1:4, c(0, .1, .5, .95, 1), type = 7)
  EXPECT_THAT(Quantile(values, 0.0), Optional(1.0));
  EXPECT_THAT(Quantile(values, 0.1), Optional(DoubleNear(1.3, 1e-12)));
  EXPECT_THAT(Quantile(values, 0.5), Optional(2.5));
  EXPECT_THAT(Quantile(values, 0.95), Optional(DoubleNear(3.85, 1e-12)));
  EXPECT_THAT(Quantile(values, 1.0), Optional(4.0));
}

TEST(Descriptive, QuantileRefusesAProbabilityOutsideZeroToOne) {
  const std::vector<double> values{1, 2};
  EXPECT_FALSE(Quantile(values, -0.1));
  EXPECT_FALSE(Quantile(values, 1.1));
  EXPECT_FALSE(Quantile(values, std::numeric_limits<double>::quiet_NaN()));
}

TEST(Descriptive, MedianTakesTheMiddleOfOddAndEvenCounts) {
  EXPECT_THAT(Median(std::vector<double>{9, 1, 5}), Optional(5.0));
  EXPECT_THAT(Median(std::vector<double>{9, 1, 5, 7}), Optional(6.0));
}

TEST(Descriptive, ScaledMadOfOneToNine) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_THAT(ScaledMad(values), Optional(DoubleNear(1.4826 * 2, 1e-12)));
  EXPECT_THAT(Spread(values), Optional(DoubleNear(1.4826 * 2, 1e-12)));
}

TEST(Descriptive, SpreadOfFewValuesIsTheSampleDeviation) {
  const std::vector<double> seven{1, 2, 3, 4, 5, 6, 7};
  EXPECT_THAT(Spread(seven), Optional(DoubleNear(std::sqrt(28.0 / 6.0), 1e-12)));
}

TEST(Descriptive, SpreadIsNotZeroWhereMostValuesAreEqualButNotAll) {
  const std::vector<double> values{1, 1, 1, 1, 1, 1, 1, 1, 2};
  EXPECT_GT(*Spread(values), 0.0);
}

TEST(Descriptive, Lag1OfARampAndOfAlternation) {
  // By hand: mean 2.5, products 0.75 - 0.25 + 0.75 = 1.25, squares 5.
  EXPECT_THAT(Lag1(std::vector<double>{1, 2, 3, 4}), Optional(DoubleNear(0.25, 1e-12)));
  EXPECT_THAT(Lag1(std::vector<double>{1, -1, 1, -1}), Optional(DoubleNear(-0.75, 1e-12)));
  EXPECT_FALSE(Lag1(std::vector<double>{5, 5, 5}));
  EXPECT_FALSE(Lag1(std::vector<double>{5, 6}));
}

TEST(Descriptive, TieShareCountsEveryMemberOfATie) {
  EXPECT_DOUBLE_EQ(TieShare(std::vector<double>{1, 2, 3, 2, 5}), 0.4);
  EXPECT_DOUBLE_EQ(TieShare(std::vector<double>{1, 2, 3}), 0.0);
  EXPECT_DOUBLE_EQ(TieShare(std::vector<double>{7, 7, 7}), 1.0);
}

// The example of Benjamini and Hochberg (1995), section 3.2: 15 tests, of which Bonferroni and Holm
// reject three at 5 % and the false-discovery procedure four.
const std::vector<double> kMyocardial{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                                      .0459, .3240, .4262, .5719, .6528, .7590, 1.0};

TEST(Multiplicity, HolmRejectsThreeOfThePublishedExample) {
  const std::vector<bool> rejected = Holm(kMyocardial, 0.05);
  EXPECT_EQ(std::count(rejected.begin(), rejected.end(), true), 3);
  EXPECT_TRUE(rejected[2]);
}

TEST(Multiplicity, BenjaminiHochbergRejectsFourOfThePublishedExample) {
  const std::vector<double> q = BenjaminiHochberg(kMyocardial);
  EXPECT_EQ(std::count_if(q.begin(), q.end(), [](double x) { return x <= 0.05; }), 4);
  EXPECT_NEAR(q[0], 0.0015, 1e-12);
  EXPECT_NEAR(q[3], 15 * .0095 / 4, 1e-12);
  EXPECT_NEAR(q[5], 15 * .0298 / 7, 1e-12);  // The smallest m p_j / j at or after it.
}

TEST(Multiplicity, HolmStopsAtTheFirstFailure) {
  // 0.01 <= 0.05/3, 0.03 > 0.05/2; 0.04 would pass alone but comes after the failure.
  EXPECT_THAT(Holm(std::vector<double>{0.04, 0.01, 0.03}, 0.05), ElementsAre(false, true, false));
}

TEST(Multiplicity, OrderOfTheInputDoesNotMatter) {
  const std::vector<double> q = BenjaminiHochberg(std::vector<double>{0.03, 0.01, 0.02});
  EXPECT_THAT(
      q, ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.03, 1e-12), DoubleNear(0.03, 1e-12)));
  EXPECT_TRUE(Holm({}, 0.05).empty());
  EXPECT_TRUE(BenjaminiHochberg({}).empty());
}

}  // namespace
}  // namespace dlbench::stats
