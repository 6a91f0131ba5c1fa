#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "stats/stats.h"

namespace dlbench::stats {
namespace {

using Estimator = std::function<Interval(const std::vector<double>&, double)>;

std::vector<double> Sample(std::mt19937_64& random, std::size_t n) {
  std::lognormal_distribution<double> step(0.0, 0.5);
  std::vector<double> values(n);
  for (double& value : values) value = step(random);
  return values;
}

std::vector<double> Mapped(std::vector<double> values, const std::function<double(double)>& map) {
  std::transform(values.begin(), values.end(), values.begin(), map);
  return values;
}

void ExpectNear(const Interval& a, const Interval& b) {
  EXPECT_NEAR(a.estimate, b.estimate, 1e-9);
  ASSERT_EQ(a.low.has_value(), b.low.has_value());
  if (!a.low) return;
  EXPECT_NEAR(*a.low, *b.low, 1e-9);
  EXPECT_NEAR(*a.high, *b.high, 1e-9);
}

Interval Changed(Interval interval, const std::function<double(double)>& map) {
  interval.estimate = map(interval.estimate);
  if (interval.low) interval.low = map(*interval.low);
  if (interval.high) interval.high = map(*interval.high);
  return interval;
}

class OneSample : public testing::TestWithParam<Estimator> {
 protected:
  /// Calls `check` for a hundred samples of 1 to 30 values.
  void ForSamples(const std::function<void(const std::vector<double>&)>& check) {
    std::mt19937_64 random(20'161);
    for (std::size_t i = 0; i < 100; ++i) check(Sample(random, 1 + i % 30));
  }
};

TEST_P(OneSample, MovesWithAShift) {
  const auto shift = [](double x) { return x + 3.5; };
  ForSamples([&](const std::vector<double>& values) {
    ExpectNear(GetParam()(Mapped(values, shift), 0.95), Changed(GetParam()(values, 0.95), shift));
  });
}

TEST_P(OneSample, GrowsWithAScale) {
  const auto scale = [](double x) { return 7.0 * x; };
  ForSamples([&](const std::vector<double>& values) {
    ExpectNear(GetParam()(Mapped(values, scale), 0.95), Changed(GetParam()(values, 0.95), scale));
  });
}

TEST_P(OneSample, IsMirroredByANegativeSign) {
  ForSamples([&](const std::vector<double>& values) {
    Interval mirrored = GetParam()(Mapped(values, std::negate<>()), 0.95);
    std::swap(mirrored.low, mirrored.high);
    ExpectNear(Changed(mirrored, std::negate<>()), GetParam()(values, 0.95));
  });
}

TEST_P(OneSample, DoesNotDependOnOrder) {
  std::mt19937_64 random(7);
  ForSamples([&](std::vector<double> values) {
    const Interval before = GetParam()(values, 0.95);
    std::shuffle(values.begin(), values.end(), random);
    ExpectNear(GetParam()(values, 0.95), before);
  });
}

TEST_P(OneSample, WidensWithConfidenceAndHoldsTheEstimate) {
  ForSamples([&](const std::vector<double>& values) {
    const Interval narrow = GetParam()(values, 0.90);
    const Interval wide = GetParam()(values, 0.99);
    if (!wide.low) return;
    ASSERT_TRUE(narrow.low);
    EXPECT_LE(*wide.low, *narrow.low);
    EXPECT_GE(*wide.high, *narrow.high);
    EXPECT_LE(*narrow.low, narrow.estimate);
    EXPECT_GE(*narrow.high, narrow.estimate);
    EXPECT_GE(wide.achieved_confidence, narrow.achieved_confidence);
    EXPECT_GE(narrow.achieved_confidence, 0.90);
  });
}

TEST_P(OneSample, ConstantValuesGiveTheConstant) {
  const Interval interval = GetParam()(std::vector<double>(10, 2.5), 0.95);
  EXPECT_EQ(interval.estimate, 2.5);
  EXPECT_EQ(interval.low, 2.5);
  EXPECT_EQ(interval.high, 2.5);
}

INSTANTIATE_TEST_SUITE_P(HodgesLehmann, OneSample,
                         testing::Values([](const std::vector<double>& v, double confidence) {
                           return *HodgesLehmann(v, confidence);
                         }));
INSTANTIATE_TEST_SUITE_P(Sign, OneSample,
                         testing::Values([](const std::vector<double>& v, double confidence) {
                           return *SignInterval(v, confidence);
                         }));

TEST(TwoSampleProperties, SwappingTheSamplesChangesTheSign) {
  std::mt19937_64 random(3);
  for (std::size_t n = 4; n < 20; ++n) {
    const std::vector<double> x = Sample(random, n);
    const std::vector<double> y = Sample(random, n + 3);
    const Interval forward = *HodgesLehmannShift(x, y);
    const Interval backward = *HodgesLehmannShift(y, x);
    EXPECT_NEAR(forward.estimate, -backward.estimate, 1e-12);
    EXPECT_NEAR(*forward.low, -*backward.high, 1e-12);
    EXPECT_NEAR(*forward.high, -*backward.low, 1e-12);
  }
}

TEST(SignedRankProperties, PAgreesWithTheIntervalOnZero) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0.4, 1.0);
  for (std::size_t i = 0; i < 300; ++i) {
    std::vector<double> values(6 + i % 30);
    for (double& value : values) value = noise(random);
    const Interval interval = *HodgesLehmann(values, 0.95);
    const bool excludes_zero = *interval.low > 0.0 || *interval.high < 0.0;
    EXPECT_EQ(excludes_zero, SignedRankP(values) <= 0.05) << i;
  }
}

}  // namespace
}  // namespace dlbench::stats
