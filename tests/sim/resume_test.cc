#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "campaign_fixture.h"

namespace dlbench::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ResumeTest : public CampaignTest {
 protected:
  ResumeTest() {
    plan_.rounds = 6;
    launcher_.scripts["beta"] = Steps(0.004);
  }
  /// Every round of every arm is stored exactly once as done.
  void ExpectWhole() {
    std::map<std::pair<std::int64_t, std::int64_t>, int> done;
    const auto launches = *store_->Launches(1);
    for (const auto& launch : launches) {
      if (launch.round >= 0 && launch.status == "done") {
        ++done[{launch.configuration, launch.round}];
      }
    }
    EXPECT_THAT(done, SizeIs(2 * 6));
    for (const auto& [key, count] : done) EXPECT_EQ(count, 1) << "stored twice";
    EXPECT_THAT(*store_->CheckFigures(), IsEmpty());
  }
};

class InterruptedTest : public ResumeTest, public testing::WithParamInterface<int> {};

TEST_P(InterruptedTest, ResumeMakesOnlyWhatIsMissing) {
  InterruptAfter(static_cast<std::size_t>(GetParam()));
  ASSERT_EQ(Run(), 1) << error_;
  EXPECT_FALSE(Report().finished);
  EXPECT_THAT(Report().warnings, Not(IsEmpty()));
  EXPECT_THAT(launcher_.launched, SizeIs(GetParam()));
  std::set<std::string> before;
  for (const Launched& launch : launcher_.launched) {
    if (launch.timed_steps > 0) before.insert(launch.folder);
  }

  DoNotInterrupt();
  launcher_.launched.clear();
  Reopen();
  ASSERT_EQ(Run(/*resume=*/true), 1) << error_;
  int gates = 0;
  for (const Launched& launch : launcher_.launched) {
    gates += launch.timed_steps == 0 ? 1 : 0;
    EXPECT_EQ(before.count(launch.folder), 0U) << launch.folder << " was made already";
  }
  EXPECT_EQ(gates, 2) << "what may have changed meanwhile is proved again";
  EXPECT_THAT(launcher_.launched, SizeIs(2 + 12 - before.size()));
  ExpectWhole();
  EXPECT_TRUE(Report().finished);
  EXPECT_THAT(Statuses(), ElementsAre("timed", "timed"));
}
INSTANTIATE_TEST_SUITE_P(At, InterruptedTest, testing::Values(0, 1, 2, 3, 7, 13));

TEST_F(ResumeTest, KeepsTheNumbersOfStepsItBeganWith) {
  InterruptAfter(6);
  ASSERT_EQ(Run(), 1) << error_;
  const std::int64_t steps = launcher_.launched.back().timed_steps;
  DoNotInterrupt();
  launcher_.launched.clear();
  launcher_.scripts["beta"] = Steps(0.001);
  ASSERT_EQ(Run(true), 1) << error_;
  for (const Launched& launch : launcher_.launched) {
    if (launch.timed_steps > 0) {
      EXPECT_EQ(launch.timed_steps, steps);
    }
  }
}

TEST_F(ResumeTest, RefusesAnotherPlanAnotherMachineAndAFinishedCampaign) {
  InterruptAfter(5);
  ASSERT_EQ(Run(), 1) << error_;
  DoNotInterrupt();
  launcher_.launched.clear();
  plan_.rounds = 7;
  EXPECT_EQ(Run(true), 0);
  EXPECT_THAT(error_, HasSubstr("nothing to resume"));
  plan_.rounds = 6;
  machine_.cpu_model = "another";
  EXPECT_EQ(Run(true), 0);
  machine_.cpu_model.clear();
  EXPECT_THAT(launcher_.launched, IsEmpty());
  ASSERT_EQ(Run(true), 1) << error_;
  EXPECT_EQ(Run(true), 0);
  EXPECT_THAT(error_, HasSubstr("nothing to resume"));
}

TEST_F(ResumeTest, AnUnequalLaunchIsNotWashedAwayByGoingOn) {
  launcher_.scripts["beta"] = [](const LaunchRequest&, int number) {
    Turn turn;
    turn.unequal = number == 1;
    return turn;
  };
  InterruptAfter(6);
  ASSERT_EQ(Run(), 1) << error_;
  EXPECT_THAT(Statuses(), ElementsAre("timed", "unequal"));
  DoNotInterrupt();
  ASSERT_EQ(Run(true), 1) << error_;
  EXPECT_THAT(Statuses(), ElementsAre("timed", "unequal"));
}

TEST_F(ResumeTest, AFailedLaunchIsTriedAgain) {
  launcher_.scripts["beta"] = [](const LaunchRequest&, int number) {
    Turn turn;
    if (number == 1) turn.failure = worker::FailureKind::kCrashed;
    return turn;
  };
  InterruptAfter(6);
  ASSERT_EQ(Run(), 1) << error_;
  DoNotInterrupt();
  ASSERT_EQ(Run(true), 1) << error_;
  ExpectWhole();
  EXPECT_EQ(Report().results[1].launches_failed, 0);
}

}  // namespace
}  // namespace dlbench::experiment
