#include "measure/plausible.h"

#include <gmock/gmock.h>

#include <limits>

namespace dlbench::measure {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

TEST(Impossible, RateAboveThePeakNamesBothNumbers) {
  EXPECT_THAT(Impossible(250e9, 1.0, 100e9),
              Optional(AllOf(HasSubstr("250 GFLOP/s"), HasSubstr("100 GFLOP/s"))));
}

TEST(Impossible, TenPercentAboveThePeakIsItsOwnError) {
  EXPECT_FALSE(Impossible(110e9, 1.0, 100e9));
  EXPECT_TRUE(Impossible(110.1e9, 1.0, 100e9));
  EXPECT_FALSE(Impossible(50e9, 1.0, 100e9));
}

TEST(Impossible, UnknownFiguresAreNotJudged) {
  EXPECT_FALSE(Impossible(0.0, 1.0, 100e9));
  EXPECT_FALSE(Impossible(250e9, 0.0, 100e9));
  EXPECT_FALSE(Impossible(250e9, 1.0, 0.0));
  EXPECT_FALSE(Impossible(std::numeric_limits<double>::quiet_NaN(), 1.0, 100e9));
  EXPECT_FALSE(Impossible(std::numeric_limits<double>::infinity(), 1.0, 100e9));
}

}  // namespace
}  // namespace dlbench::measure
