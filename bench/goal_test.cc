#include "goal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <vector>

namespace dlbench::bench {
namespace {

stats::Interval From(double low, double high) {
  stats::Interval interval;
  interval.estimate = (low + high) / 2;
  interval.low = low;
  interval.high = high;
  return interval;
}

TEST(BenchGoal, OnlyAnIntervalInsideHoldsAndOnlyOneOutsideMisses) {
  const Goal around{0.98, 1.02};
  EXPECT_EQ(Judge(From(0.99, 1.01), around), Verdict::kHolds);
  EXPECT_EQ(Judge(From(0.97, 1.01), around), Verdict::kUndecided);
  EXPECT_EQ(Judge(From(0.9, 1.1), around), Verdict::kUndecided);
  EXPECT_EQ(Judge(From(1.03, 1.05), around), Verdict::kMissed);
  EXPECT_EQ(Judge(From(0.90, 0.95), around), Verdict::kMissed);
  EXPECT_EQ(Judge(From(0.0, 2.9), {std::nullopt, 3.0}), Verdict::kHolds);
  EXPECT_EQ(Judge(From(3.1, 4.0), {std::nullopt, 3.0}), Verdict::kMissed);
}

TEST(BenchGoal, WithoutAnIntervalNothingIsDecided) {
  stats::Interval interval;
  interval.estimate = 1.0;
  EXPECT_EQ(Judge(interval, {0.98, 1.02}), Verdict::kUndecided);
  std::ostringstream out;
  Report(out, "x", interval, "", {0.98, 1.02});
  EXPECT_THAT(out.str(), testing::HasSubstr("[no interval]"));
}

TEST(BenchGoal, ARatioComesBackFromItsLogarithms) {
  const auto interval = IntervalOfLogs(std::vector<double>(8, std::log(1.25)));
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->estimate, 1.25, 1e-12);
  EXPECT_NEAR(interval->low.value_or(0.0), 1.25, 1e-12);
}

TEST(BenchGoal, AMissedGoalDecidesTheExitStatus) {
  EXPECT_EQ(ExitStatus(Worse(Verdict::kHolds, Verdict::kHolds)), 0);
  EXPECT_EQ(ExitStatus(Worse(Verdict::kUndecided, Verdict::kMissed)), 1);
  EXPECT_EQ(ExitStatus(Worse(Verdict::kHolds, Verdict::kUndecided)), 3);
}

}  // namespace
}  // namespace dlbench::bench
