#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "stats/stats.h"

namespace dlbench::stats {
namespace {

using Draw = std::function<double(std::mt19937_64&)>;

constexpr int kTrials = 4000;

double Normal(std::mt19937_64& random) {
  return std::normal_distribution<double>(0.0, 0.05)(random);
}

/// 3 % normal noise; 12 % of the launches are slowed down by 15 % on average.
double Contaminated(std::mt19937_64& random) {
  const double noise = std::normal_distribution<double>(0.0, 0.03)(random);
  const bool slow = std::bernoulli_distribution(0.12)(random);
  return noise + (slow ? std::exponential_distribution<double>(1.0 / 0.15)(random) : 0.0);
}

double Skewed(std::mt19937_64& random) {
  return std::exponential_distribution<double>(20.0)(random);
}

std::vector<double> Sample(const Draw& draw, std::size_t n, std::mt19937_64& random) {
  std::vector<double> values(n);
  for (double& value : values) value = draw(random);
  return values;
}

/// The median of the mean of two draws: what Hodges-Lehmann estimates.
double PseudoMedian(const Draw& draw) {
  std::mt19937_64 random(99);
  std::vector<double> means(200'000);
  for (double& mean : means) mean = 0.5 * (draw(random) + draw(random));
  return *Median(means);
}

/// Share of the trials in which the 95 % interval of n draws holds their pseudo-median.
double Coverage(const Draw& draw, std::size_t n) {
  const double target = PseudoMedian(draw);
  std::mt19937_64 random(2016);
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Interval interval = *HodgesLehmann(Sample(draw, n, random));
    if (*interval.low <= target && target <= *interval.high) ++held;
  }
  return static_cast<double>(held) / kTrials;
}

TEST(Coverage, NormalLaunchesAreCoveredAsClaimed) {
  EXPECT_NEAR(Coverage(Normal, 10), 0.951, 0.01);
  EXPECT_NEAR(Coverage(Normal, 20), 0.951, 0.01);
}

TEST(Coverage, ContaminatedLaunchesStayWithinTwoPercent) {
  EXPECT_NEAR(Coverage(Contaminated, 10), 0.95, 0.02);
  EXPECT_NEAR(Coverage(Contaminated, 20), 0.95, 0.02);
}

TEST(Coverage, SkewedLaunchesStayWithinTwoPercent) {
  EXPECT_NEAR(Coverage(Skewed, 10), 0.95, 0.02);
  EXPECT_NEAR(Coverage(Skewed, 20), 0.95, 0.02);
}

/// Share of A/A comparisons (per-round differences of equal arms) whose interval excludes 0.
double FalsePositives(const Draw& draw, std::size_t rounds) {
  std::mt19937_64 random(2017);
  int found = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> differences(rounds);
    for (double& difference : differences) difference = draw(random) - draw(random);
    const Interval interval = *HodgesLehmann(differences);
    if (*interval.low > 0.0 || *interval.high < 0.0) ++found;
  }
  return static_cast<double>(found) / kTrials;
}

TEST(FalsePositives, EqualArmsDifferInAtMostFivePercent) {
  for (const Draw& draw : {Draw(Normal), Draw(Contaminated), Draw(Skewed)}) {
    for (const std::size_t rounds : {10U, 15U}) {
      EXPECT_LT(FalsePositives(draw, rounds), 0.06);
      EXPECT_GT(FalsePositives(draw, rounds), 0.03);
    }
  }
}

TEST(FalsePositives, TwoSampleShiftOfEqualArmsStaysBelowFivePercent) {
  std::mt19937_64 random(2018);
  int found = 0;
  constexpr int kShiftTrials = 1000;
  for (int trial = 0; trial < kShiftTrials; ++trial) {
    const std::vector<double> x = Sample(Contaminated, 10, random);
    const Interval interval = *HodgesLehmannShift(x, Sample(Contaminated, 10, random));
    if (*interval.low > 0.0 || *interval.high < 0.0) ++found;
  }
  EXPECT_LT(found, 65);
  EXPECT_GT(found, 20);
}

TEST(Coverage, CorrelationWithinALaunchDoesNotMatter) {
  // Each launch: its own effect and 40 steps of autocorrelation 0.6. Its median is one number, and
  // the interval over launches covers as if the steps had been independent.
  std::mt19937_64 random(5);
  std::normal_distribution<double> unit(0.0, 1.0);
  int held = 0;
  constexpr int kCampaigns = 1000;
  for (int campaign = 0; campaign < kCampaigns; ++campaign) {
    std::vector<double> medians;
    for (int launch = 0; launch < 10; ++launch) {
      const double effect = 0.05 * unit(random);
      double noise = unit(random);
      std::vector<double> steps;
      for (int step = 0; step < 40; ++step) {
        noise = 0.6 * noise + 0.8 * unit(random);
        steps.push_back(effect + 0.08 * noise);
      }
      medians.push_back(*Median(steps));
    }
    const Interval interval = *HodgesLehmann(medians);
    if (*interval.low <= 0.0 && 0.0 <= *interval.high) ++held;
  }
  EXPECT_NEAR(static_cast<double>(held) / kCampaigns, 0.95, 0.02);
}

}  // namespace
}  // namespace dlbench::stats
