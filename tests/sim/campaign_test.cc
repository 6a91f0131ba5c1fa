#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "campaign_fixture.h"

namespace dlbench::experiment {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using worker::FailureKind;

TEST_F(CampaignTest, GatesEveryArmThenLaunchesEachOnceARound) {
  ASSERT_NE(Run(), 0) << error_;
  ASSERT_THAT(launcher_.launched, SizeIs(2 + 2 * 6));
  EXPECT_EQ(launcher_.launched[0].timed_steps, 0);
  EXPECT_EQ(launcher_.launched[1].timed_steps, 0);
  for (std::size_t round = 0; round < 6; ++round) {
    std::set<std::string> arms;
    for (std::size_t i = 0; i < 2; ++i) {
      const Launched& launch = launcher_.launched[2 + 2 * round + i];
      arms.insert(launch.arm);
      EXPECT_THAT(launch.folder, HasSubstr("round-" + std::to_string(round) + "-"));
    }
    EXPECT_THAT(arms, SizeIs(2));
  }
  EXPECT_THAT(Statuses(), ElementsAre("timed", "timed"));
  EXPECT_TRUE(Report().finished);
}

TEST_F(CampaignTest, OrderDependsOnTheSeedAlone) {
  plan_.frameworks = {"alpha", "beta", "gamma"};
  const auto order = [this](std::uint64_t seed) {
    plan_.seed = seed;
    launcher_.launched.clear();
    EXPECT_NE(Run(), 0) << error_;
    std::vector<std::string> arms;
    for (const Launched& launch : launcher_.launched) arms.push_back(launch.arm);
    return arms;
  };
  const auto first = order(1);
  launcher_.scripts["beta"] = Steps(0.003);
  EXPECT_EQ(order(1), first);
  EXPECT_NE(order(2), first);
}

TEST_F(CampaignTest, ArmsOfAGroupTakeTheSameStepsWhicheverIsSlow) {
  plan_.launch_seconds = 0.4;
  plan_.warmup_seconds = 0.1;
  launcher_.scripts["alpha"] = Steps(0.001);
  launcher_.scripts["beta"] = Steps(0.004);
  ASSERT_NE(Run(), 0) << error_;
  for (const Launched& launch : launcher_.launched) {
    if (launch.timed_steps == 0) continue;
    EXPECT_EQ(launch.timed_steps, 100) << "0.4 s of the slower one";
    EXPECT_EQ(launch.warmup_steps, 100) << "0.1 s of the faster one";
  }
  const auto report = Report();
  EXPECT_NEAR(report.results[0].step_time->estimate, 0.001, 1e-9);
  EXPECT_NEAR(report.results[1].step_time->estimate, 0.004, 1e-9);
}

TEST_F(CampaignTest, AnotherBatchIsAnotherGroupWithItsOwnSteps) {
  plan_.frameworks = {"alpha"};
  plan_.batches = {8, 16};
  plan_.launch_seconds = 0.4;
  launcher_.scripts["alpha"] = [](const LaunchRequest& request, int) {
    return Turn{request.arm->batch == 8 ? 0.001 : 0.008, {}, {}, false};
  };
  ASSERT_NE(Run(), 0) << error_;
  for (const Launched& launch : launcher_.launched) {
    if (launch.timed_steps == 0) continue;
    EXPECT_EQ(launch.timed_steps, launch.arm == "alpha default b8 t1" ? 400 : 50) << launch.arm;
  }
  EXPECT_THAT(Report().comparisons, IsEmpty()) << "unlike work is never compared";
}

TEST_F(CampaignTest, ExactlyOneTimedLaunchOfEachArmIsCheckedInFull) {
  ASSERT_NE(Run(), 0) << error_;
  std::map<std::string, int> full;
  for (const Launched& launch : launcher_.launched) {
    if (launch.timed_steps > 0 && launch.full_check) ++full[launch.arm];
    if (launch.timed_steps == 0) {
      EXPECT_TRUE(launch.full_check);
    }
  }
  EXPECT_EQ(full,
            (std::map<std::string, int>{{"alpha default b8 t1", 1}, {"beta default b8 t1", 1}}));
}

TEST_F(CampaignTest, AFailingGateDoesNotStopTheOthers) {
  plan_.frameworks = {"alpha", "beta", "gamma"};
  launcher_.scripts["alpha"] = Always(FailureKind::kTimeout);
  ASSERT_NE(Run(), 0) << error_;
  EXPECT_THAT(Statuses(), ElementsAre("failed", "timed", "timed"));
  EXPECT_EQ(Count("alpha default b8 t1"), 1) << "known by then: not launched again";
  EXPECT_EQ(Report().results[0].failure_kind, "timeout");
}

TEST_F(CampaignTest, TwoFailuresInARowStopAnArmOneDoesNot) {
  launcher_.scripts["alpha"] = [](const LaunchRequest&, int number) {
    Turn turn;
    if (number == 2) turn.failure = FailureKind::kCrashed;
    return turn;
  };
  launcher_.scripts["beta"] = [](const LaunchRequest&, int number) {
    Turn turn;
    if (number >= 2) turn.failure = FailureKind::kCrashed;
    return turn;
  };
  ASSERT_NE(Run(), 0) << error_;
  EXPECT_EQ(Count("alpha default b8 t1"), 1 + 6);
  EXPECT_EQ(Count("beta default b8 t1"), 1 + 3) << "gate, one good round, two failures";
  const auto report = Report();
  EXPECT_EQ(report.results[0].launches_failed, 1);
  EXPECT_EQ(report.results[1].launches_failed, 2);
}

TEST_F(CampaignTest, AnUnequalGateIsNeverTimed) {
  launcher_.scripts["beta"] = [](const LaunchRequest&, int) {
    Turn turn;
    turn.unequal = true;
    return turn;
  };
  ASSERT_NE(Run(), 0) << error_;
  EXPECT_THAT(Statuses(), ElementsAre("timed", "unequal"));
  EXPECT_EQ(Count("beta default b8 t1"), 1);
  EXPECT_THAT(said_.str(), HasSubstr("beta default, tiny, batch 8, 1 thread: unequal"));
}

TEST_F(CampaignTest, OneUnequalTimedLaunchWithholdsAllTimingsOfItsConfiguration) {
  launcher_.scripts["beta"] = [](const LaunchRequest&, int number) {
    Turn turn;
    turn.unequal = number == 4;
    return turn;
  };
  ASSERT_NE(Run(), 0) << error_;
  const auto report = Report();
  EXPECT_THAT(Statuses(), ElementsAre("timed", "unequal"));
  EXPECT_FALSE(report.results[1].step_time.has_value());
  EXPECT_FALSE(report.results[1].samples_per_second.has_value());
  EXPECT_THAT(report.comparisons, IsEmpty());
  EXPECT_EQ(Count("beta default b8 t1"), 5) << "not launched after that";
}

TEST_F(CampaignTest, UnsupportedIsARowWithItsReasonAndNoFailure) {
  launcher_.scripts["beta"] = Always(FailureKind::kUnsupported);
  ASSERT_NE(Run(), 0) << error_;
  EXPECT_THAT(Statuses(), ElementsAre("timed", "unsupported"));
  EXPECT_EQ(Report().results[1].reason, "as scripted");
}

TEST_F(CampaignTest, AFrameworkThatCannotGreetIsARowNotAnEnd) {
  launcher_.mute["alpha"] = {FailureKind::kExited, "AttributeError: module 'numpy'", {}, 1, "tail"};
  ASSERT_NE(Run(), 0) << error_;
  EXPECT_THAT(Statuses(), ElementsAre("failed", "timed"));
  EXPECT_EQ(Report().results[0].reason, "AttributeError: module 'numpy'");
  EXPECT_EQ(Count("alpha default b8 t1"), 0);
}

TEST_F(CampaignTest, FasterThanThePeakIsImpossibleAndHasNoTiming) {
  peaks_ = {{"fma_float32", 1, 1e3, "a very slow machine", false}};
  ASSERT_NE(Run(), 0) << error_;
  EXPECT_THAT(Statuses(), ElementsAre("impossible", "impossible"));
  for (const auto& row : Report().results) {
    EXPECT_FALSE(row.step_time.has_value());
    EXPECT_FALSE(row.samples_per_second.has_value());
  }
  peaks_[0].disturbed = true;
  ASSERT_NE(Run(), 0) << error_;
  EXPECT_THAT(Statuses(), Each("timed")) << "a disturbed peak is no bound";
}

TEST_F(CampaignTest, VerifyOnlyGatesAndTimesNothing) {
  verify_only_ = true;
  ASSERT_NE(Run(), 0) << error_;
  EXPECT_THAT(launcher_.launched, SizeIs(2));
  const auto report = Report();
  EXPECT_EQ(report.results[0].verification->status, "equal");
  EXPECT_FALSE(report.results[0].step_time.has_value());
}

TEST_F(CampaignTest, WrongInputsLeaveNoCampaignBehind) {
  plan_.networks = {"tinny"};
  EXPECT_EQ(Run(), 0);
  EXPECT_THAT(error_, HasSubstr("did you mean 'tiny'?"));
  plan_.networks = {"tiny"};
  plan_.data = (folder_ / "no-such-data").string();
  EXPECT_EQ(Run(), 0);
  plan_.data.clear();
  plan_.batches = {std::int64_t{1} << 24};
  EXPECT_EQ(Run(), 0);
  EXPECT_THAT(*store_->Campaigns(), IsEmpty());
  EXPECT_THAT(launcher_.launched, IsEmpty());
}

TEST_F(CampaignTest, C06AnUnknownModeIsShownAndNeverRankedBesideAKnownOne) {
  plan_.frameworks = {"alpha", "beta", "gamma"};
  plan_.rounds = 10;
  launcher_.scripts["beta"] = Steps(0.0005);
  launcher_.scripts["gamma"] = Steps(0.002);
  launcher_.edit_hello = [](const std::string& framework, worker::Hello& hello) {
    if (framework == "beta") hello.mode_labels.clear();
  };
  ASSERT_NE(Run(), 0) << error_;
  const auto report = Report();
  ASSERT_THAT(report.results, SizeIs(3));
  EXPECT_EQ(report.results[0].mode_label, "scripted");
  EXPECT_EQ(report.results[1].mode_label, "unknown");
  EXPECT_EQ(report.results[1].status, "timed");
  ASSERT_THAT(report.comparisons, SizeIs(1));
  EXPECT_EQ(report.comparisons[0].a, "alpha default");
  EXPECT_EQ(report.comparisons[0].b, "gamma default");
  EXPECT_THAT(report.sentence, testing::Not(HasSubstr("beta")));
}

class C18 : public CampaignTest, public testing::WithParamInterface<int> {};

TEST_P(C18, FewRoundsHaveAnEstimateAndNoIntervalSixHaveOne) {
  plan_.rounds = GetParam();
  launcher_.scripts["beta"] = [](const LaunchRequest&, int number) {
    Turn turn;
    turn.step_seconds = 0.002 * (1.0 + 0.01 * number);
    return turn;
  };
  ASSERT_NE(Run(), 0) << error_;
  const auto report = Report();
  const bool interval = GetParam() >= 6;
  const auto& time = *report.results[1].step_time;
  EXPECT_EQ(time.launches, GetParam());
  EXPECT_EQ(time.low.has_value(), interval);
  EXPECT_EQ(time.high.has_value(), interval);
  if (interval) {
    EXPECT_LT(*time.low, *time.high);
  }
  ASSERT_THAT(report.comparisons, SizeIs(1));
  EXPECT_EQ(report.comparisons[0].comparison.low.has_value(), interval);
  EXPECT_EQ(report.comparisons[0].comparison.verdict, measure::VerdictWord::kQuickLook);
  if (!interval) {
    EXPECT_THAT(report.sentence, HasSubstr("too few for an interval"));
  }
}
INSTANTIATE_TEST_SUITE_P(Rounds, C18, testing::Values(1, 2, 5, 6));

constexpr int kSegmentationFault = 11;

class C65 : public CampaignTest, public testing::WithParamInterface<std::string> {};

TEST_P(C65, ACrashInAnyCellLeavesTheOthersTimedAndRanked) {
  plan_.frameworks = {"alpha", "beta", "gamma"};
  launcher_.scripts[GetParam()] = [](const LaunchRequest&, int number) {
    Turn turn;
    if (number > 0) turn.failure = FailureKind::kCrashed;
    turn.signal = kSegmentationFault;
    return turn;
  };
  ASSERT_NE(Run(), 0) << error_;
  const auto report = Report();
  ASSERT_THAT(report.results, SizeIs(3));
  EXPECT_THAT(report.comparisons, SizeIs(1));
  for (const auto& row : report.results) {
    if (row.framework != GetParam()) {
      EXPECT_EQ(row.status, "timed");
      continue;
    }
    EXPECT_EQ(row.status, "failed");
    EXPECT_EQ(row.signal, kSegmentationFault);
    EXPECT_THAT(row.log_tail, HasSubstr("last words"));
    EXPECT_FALSE(row.step_time.has_value());
  }
}
INSTANTIATE_TEST_SUITE_P(Cells, C65, testing::Values("alpha", "beta", "gamma"));

}  // namespace
}  // namespace dlbench::experiment
