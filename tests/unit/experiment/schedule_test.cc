#include "experiment/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace dlbench::experiment {
namespace {

TEST(RoundOrdersTest, EveryArmTakesEveryPositionOnceInASquare) {
  for (std::size_t arms = 1; arms <= 7; ++arms) {
    const auto orders = RoundOrders(arms, 3 * arms, 1);
    ASSERT_EQ(orders.size(), 3 * arms);
    for (std::size_t square = 0; square < 3; ++square) {
      for (std::size_t position = 0; position < arms; ++position) {
        std::set<std::size_t> seen;
        for (std::size_t row = 0; row < arms; ++row) {
          seen.insert(orders[square * arms + row][position]);
        }
        EXPECT_EQ(seen.size(), arms) << arms << " arms, position " << position;
      }
    }
  }
}

TEST(RoundOrdersTest, EveryRoundHoldsEveryArmOnceAlsoInAnUnfinishedSquare) {
  for (const auto& order : RoundOrders(5, 7, 3)) {
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 5U);
  }
}

TEST(RoundOrdersTest, TheSeedAloneDecidesAndMoreRoundsChangeNothingBefore) {
  const auto orders = RoundOrders(4, 8, 1);
  EXPECT_EQ(orders, RoundOrders(4, 8, 1));
  EXPECT_NE(orders, RoundOrders(4, 8, 2));
  const auto longer = RoundOrders(4, 20, 1);
  EXPECT_TRUE(std::equal(orders.begin(), orders.end(), longer.begin()));
}

TEST(RoundOrdersTest, NoArmsAreNoRounds) { EXPECT_TRUE(RoundOrders(0, 5, 1).empty()); }

TEST(LengthForTest, TheSlowestArmDecidesWhatIsTimedAndTheFastestTheWarmup) {
  const LaunchLength length = LengthFor({0.02, 0.05, 0.01}, 0.5, 2.0);
  EXPECT_EQ(length.timed_steps, 40);
  EXPECT_EQ(length.warmup_steps, 50);
}

TEST(LengthForTest, NoArmTakesFewerThanTenStepsOrMoreThanAnAnswerHolds) {
  const LaunchLength slow = LengthFor({10.0}, 0.5, 1.0);
  EXPECT_EQ(slow.timed_steps, 10);
  EXPECT_EQ(slow.warmup_steps, 10);
  const LaunchLength fast = LengthFor({1e-300}, 0.5, 1.0);
  EXPECT_EQ(fast.timed_steps, 150'000);
  EXPECT_EQ(fast.warmup_steps, 50'000);
}

}  // namespace
}  // namespace dlbench::experiment
