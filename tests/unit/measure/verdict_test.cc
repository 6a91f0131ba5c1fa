#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "measure/measure.h"

namespace dlbench::measure {
namespace {

using testing::DoubleNear;
using testing::Optional;

/// `n` times around `centre` seconds, evenly spread over +-`half_width` (relative), in an order
/// that `stride` shuffles.
std::vector<double> Around(double centre, double half_width, std::size_t n,
                           std::size_t stride = 1) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < n; ++i) {
    const double place = static_cast<double>((i * stride) % n) / static_cast<double>(n - 1);
    seconds.push_back(centre * std::exp(half_width * (2.0 * place - 1.0)));
  }
  return seconds;
}

/// Compare for arms whose log ratios are exactly `differences`.
Comparison OfDifferences(const std::vector<double>& differences, double margin = 0.05) {
  std::vector<double> b;
  for (const double difference : differences) b.push_back(std::exp(difference));
  return *Compare(std::vector<double>(b.size(), 1.0), b, margin);
}

TEST(Verdict, FasterAndSlowerAreAboutA) {
  const auto quick = Around(0.010, 0.01, 10);
  const auto slow = Around(0.012, 0.01, 10, 3);
  const auto forward = Compare(quick, slow);
  EXPECT_EQ(forward->verdict, VerdictWord::kFaster);
  EXPECT_NEAR(forward->ratio, 1.2, 0.02);
  EXPECT_GT(*forward->low, 1.1);
  EXPECT_EQ(forward->rounds, 10);
  const auto backward = Compare(slow, quick);
  EXPECT_EQ(backward->verdict, VerdictWord::kSlower);
  EXPECT_NEAR(backward->ratio, 1.0 / forward->ratio, 1e-12);
  EXPECT_NEAR(*backward->low, 1.0 / *forward->high, 1e-12);
  EXPECT_NEAR(*backward->high, 1.0 / *forward->low, 1e-12);
}

TEST(Verdict, EquivalentNeedsTheWholeIntervalInsideTheMargin) {
  const std::vector<double> tight{-.02, -.015, -.01, -.005, -.001, .001, .005, .01, .015, .02};
  EXPECT_EQ(OfDifferences(tight).verdict, VerdictWord::kEquivalent);
  EXPECT_EQ(OfDifferences(tight, 0.005).verdict, VerdictWord::kUnresolved);
}

TEST(Verdict, EquivalentComesBeforeSmallChange) {
  const std::vector<double> clear{.010, .011, .012, .013, .014, .015, .016, .017, .018, .019};
  EXPECT_EQ(OfDifferences(clear).verdict, VerdictWord::kEquivalent);
}

TEST(Verdict, SmallChangeExcludesZeroWithTheEstimateInsideTheMargin) {
  const std::vector<double> small{.005, .01, .02, .025, .03, .035, .04, .06, .08, .09};
  const Comparison comparison = OfDifferences(small);
  EXPECT_GT(*comparison.low, 1.0);
  EXPECT_GT(*comparison.high, 1.05);
  EXPECT_EQ(comparison.verdict, VerdictWord::kSmallChange);
}

TEST(Verdict, WideIntervalIsUnresolvedAndSaysWhatCouldHaveBeenSeen) {
  const std::vector<double> wide{-.3, -.2, -.12, -.07, -.01, .03, .09, .15, .22, .31};
  const Comparison comparison = OfDifferences(wide);
  EXPECT_EQ(comparison.verdict, VerdictWord::kUnresolved);
  // MAD about the median .01: deviations .02 .02 .08 .08 .13 .14 .21 .21 .30 .31, middle .135.
  EXPECT_THAT(comparison.detectable_effect,
              Optional(DoubleNear(std::expm1(2.8 * 1.4826 * .135 / std::sqrt(10.0)), 1e-9)));
}

TEST(Verdict, BeyondTheMarginButNotAboveZeroIsUnresolved) {
  const std::vector<double> noisy{-.15, -.06, .01, .05, .08, .11, .14, .17, .20, .25};
  const Comparison comparison = OfDifferences(noisy);
  EXPECT_GT(comparison.ratio, 1.05);
  EXPECT_LT(*comparison.low, 1.0);
  EXPECT_EQ(comparison.verdict, VerdictWord::kUnresolved);
}

TEST(Verdict, SignTestOnTheOtherSideOfTheMarginMakesItUnresolved) {
  // Skewed rounds: the Walsh averages centre on 0.058, above ln 1.05, their interval above 0; the
  // median, 0.0405, is inside the margin.
  const std::vector<double> skewed{.030, .034, .036, .038, .040, .041, .060, .090, .130, .180};
  const Comparison comparison = OfDifferences(skewed);
  ASSERT_GT(comparison.ratio, 1.05);
  ASSERT_GT(*comparison.low, 1.0);
  EXPECT_EQ(comparison.verdict, VerdictWord::kUnresolved);
}

TEST(C18, FewRoundsAreAQuickLookWithoutAVerdict) {
  for (std::size_t n = 1; n <= 9; ++n) {
    const auto comparison = Compare(std::vector<double>(n, 0.010), std::vector<double>(n, 0.020));
    ASSERT_TRUE(comparison) << n;
    EXPECT_EQ(comparison->verdict, VerdictWord::kQuickLook) << n;
    EXPECT_NEAR(comparison->ratio, 2.0, 1e-12);
    EXPECT_EQ(comparison->low.has_value(), n >= 6) << n;
    EXPECT_EQ(comparison->high.has_value(), n >= 6) << n;
    EXPECT_EQ(comparison->detectable_effect.has_value(), n >= 2) << n;
  }
}

TEST(C18, FewLaunchesHaveAnEstimateAndNoInterval) {
  for (std::size_t n = 1; n <= 7; ++n) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < n; ++i) seconds.push_back(0.010 + 0.001 * static_cast<double>(i));
    const auto time = EstimateStepTime(seconds);
    ASSERT_TRUE(time) << n;
    EXPECT_EQ(time->launches, static_cast<std::int64_t>(n));
    EXPECT_EQ(time->low.has_value(), n >= 6) << n;
    EXPECT_EQ(time->spread.has_value(), n >= 2) << n;
  }
}

TEST(C19, FailedRoundsHaveNoNumber) {
  // Four successes of 64 units; the fifth round timed out and is not among the numbers.
  const auto time = EstimateStepTime(std::vector<double>{0.10, 0.11, 0.09, 0.12});
  EXPECT_EQ(time->launches, 4);
  EXPECT_NEAR(SamplesPerSecond(64, time->estimate), 611, 5);
  EXPECT_FALSE(EstimateStepTime({})) << "all failed";
  EXPECT_FALSE(
      EstimateStepTime(std::vector<double>{0.10, std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(EstimateStepTime(std::vector<double>{0.10, 0.0}));
  EXPECT_FALSE(Compare(std::vector<double>{0.10}, std::vector<double>{-1.0}));
  EXPECT_FALSE(Compare({}, {}));
  EXPECT_FALSE(Compare(std::vector<double>{0.10}, std::vector<double>{0.1, 0.1}));
}

TEST(C22, TwoModesAreFlaggedAndNotRankedAgainstARivalBetweenThem) {
  std::mt19937_64 random(4085);
  std::uniform_real_distribution<double> jitter(0.99, 1.01);
  for (std::size_t slow = 2; slow <= 8; ++slow) {
    std::vector<double> modes;
    std::vector<double> rival;
    for (std::size_t i = 0; i < 10; ++i) {
      modes.push_back((i < slow ? 0.085 : 0.040) * jitter(random));
      rival.push_back(0.060 * jitter(random));
    }
    EXPECT_EQ(Compare(modes, rival)->verdict, VerdictWord::kUnresolved) << slow;
    const auto time = EstimateStepTime(modes);
    EXPECT_TRUE(time->multimodal) << slow;
    EXPECT_GT(*time->spread, 0.25);  // ln(85 / 40) = 0.75.
    EXPECT_GT(*Compare(modes, rival)->detectable_effect, 0.25);
    EXPECT_FALSE(EstimateStepTime(rival)->multimodal);
  }
}

TEST(C22, OneSlowLaunchIsNoMode) {
  std::vector<double> seconds = Around(0.040, 0.01, 10);
  seconds[4] = 0.085;
  EXPECT_FALSE(EstimateStepTime(seconds)->multimodal);
}

TEST(C22, NormalLaunchesAreSeldomCalledMultimodal) {
  std::mt19937_64 random(22);
  std::normal_distribution<double> launch(0.0, 0.05);
  int flagged = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> logs(10);
    for (double& value : logs) value = launch(random);
    if (IsMultimodal(logs)) ++flagged;
  }
  EXPECT_LT(flagged, 10);
}

TEST(StepTime, WorksOnLogarithms) {
  // The Hodges-Lehmann estimate of 1, 2, 4 on logs is 2, not the 2.25 of the plain values.
  EXPECT_NEAR(EstimateStepTime(std::vector<double>{1, 2, 4})->estimate, 2.0, 1e-12);
}

TEST(StepTime, IsScaledByAScale) {
  const auto seconds = Around(0.010, 0.05, 12, 5);
  std::vector<double> scaled = seconds;
  for (double& value : scaled) value *= 1000.0;
  EXPECT_NEAR(EstimateStepTime(scaled)->estimate, 1000.0 * EstimateStepTime(seconds)->estimate,
              1e-9);
  EXPECT_NEAR(*EstimateStepTime(scaled)->low, 1000.0 * *EstimateStepTime(seconds)->low, 1e-9);
  EXPECT_NEAR(*EstimateStepTime(scaled)->spread, *EstimateStepTime(seconds)->spread, 1e-9);
}

TEST(Verdict, DoesNotDependOnTheUnitOfTime) {
  auto a = Around(0.010, 0.03, 12, 5);
  auto b = Around(0.011, 0.03, 12, 7);
  const auto before = Compare(a, b);
  for (auto* arm : {&a, &b}) {
    for (double& value : *arm) value *= 1e3;
  }
  EXPECT_EQ(Compare(a, b)->verdict, before->verdict);
  EXPECT_NEAR(Compare(a, b)->ratio, before->ratio, 1e-12);
}

TEST(Verdict, WordsAndTextsBelongTogether) {
  for (const char* text :
       {"faster", "slower", "equivalent", "small_change", "unresolved", "quick_look"}) {
    ASSERT_TRUE(ParseVerdictWord(text)) << text;
    EXPECT_EQ(ToString(*ParseVerdictWord(text)), text);
  }
  EXPECT_FALSE(ParseVerdictWord("regression"));
}

/// Share of 1,000 campaigns of `rounds` rounds in which a, truly faster by `effect`, is called
/// faster. Launch effects: 3 % normal, and 12 % of the launches slowed down by 15 % on average.
double Called(VerdictWord word, double effect, std::size_t rounds) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0.0, 0.03);
  std::bernoulli_distribution slow(0.12);
  std::exponential_distribution<double> delay(1.0 / 0.15);
  const auto launch = [&] { return noise(random) + (slow(random) ? delay(random) : 0.0); };
  int called = 0;
  constexpr int kCampaigns = 1000;
  for (int campaign = 0; campaign < kCampaigns; ++campaign) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t round = 0; round < rounds; ++round) {
      a.push_back(std::exp(launch()));
      b.push_back(std::exp(launch()) * (1.0 + effect));
    }
    if (Compare(a, b)->verdict == word) ++called;
  }
  return static_cast<double>(called) / kCampaigns;
}

TEST(Power, EqualArmsAreSeldomCalledFasterOrSlower) {
  EXPECT_LT(Called(VerdictWord::kFaster, 0.0, 10), 0.02);
  EXPECT_LT(Called(VerdictWord::kSlower, 0.0, 10), 0.02);
  EXPECT_LT(Called(VerdictWord::kFaster, 0.0, 20), 0.01);
}

TEST(Power, LargeEffectsAreFound) {
  EXPECT_GT(Called(VerdictWord::kFaster, 0.10, 10), 0.65);
  EXPECT_GT(Called(VerdictWord::kFaster, 0.15, 15), 0.90);
  EXPECT_EQ(Called(VerdictWord::kSlower, 0.10, 10), 0.0);
}

}  // namespace
}  // namespace dlbench::measure
