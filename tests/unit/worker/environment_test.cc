#include "worker/environment.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace dlbench::worker {
namespace {

using testing::Contains;
using testing::Not;

TEST(EnvironmentTest, TheLaunchsOwnValuesWin) {
  LaunchSpec spec;
  spec.folder = "/launch";
  spec.threads = 4;
  spec.environment = {{"OMP_NUM_THREADS", "1"}, {"DLBENCH_FD_IN", "99"}};
  const auto environment = LaunchEnvironment(spec, "DLBENCH_LAUNCH=x", 3);
  EXPECT_THAT(environment, Contains("OMP_NUM_THREADS=1"));
  EXPECT_THAT(environment, Contains("MKL_NUM_THREADS=4"));
  EXPECT_THAT(environment, Contains("DLBENCH_FD_IN=3"));  // Except the channel itself.
  EXPECT_THAT(environment, Contains("DLBENCH_PADDING=xxx"));
  EXPECT_THAT(environment, Contains("DLBENCH_LAUNCH=x"));
}

TEST(C68, AnEnvironmentValueWithByteFFIsHandedOnAsItIs) {
  ASSERT_EQ(::setenv("TZ", "a\xFF", 1), 0);
  EXPECT_THAT(LaunchEnvironment({}, "M=x", 0), Contains("TZ=a\xFF"));
  ASSERT_EQ(::unsetenv("TZ"), 0);
  EXPECT_THAT(LaunchEnvironment({}, "M=x", 0), Not(Contains("TZ=a\xFF")));
}

TEST(EnvironmentTest, EveryLaunchHasAnotherMark) { EXPECT_NE(NewLaunchMark(), NewLaunchMark()); }

}  // namespace
}  // namespace dlbench::worker
