#include "worker/run_times.h"

#include <gmock/gmock.h>

namespace dlbench::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;

/// `count` records of `steps` steps of `step_ns` each, one after another from 1 ms after the
/// request; the answer comes 1 ms after the last, plus `after_ns`.
Ran Records(int count, int steps, std::int64_t step_ns, std::int64_t gap_ns,
            std::int64_t after_ns) {
  Ran ran;
  std::int64_t time = 1'000 * kMs;
  ran.request_ns = time;
  time += kMs;
  for (int i = 0; i < count; ++i) {
    const std::int64_t end = time + steps * step_ns;
    ran.records.push_back({static_cast<std::uint32_t>(steps), time, end});
    time = end + gap_ns;
  }
  ran.reply_ns = ran.records.back().end_ns + kMs + after_ns;
  return ran;
}

std::string FaultOf(const Ran& ran, std::uint64_t reset_bytes = 0) {
  const auto failure = CheckTimes(ran, reset_bytes);
  if (!failure) return "";
  EXPECT_EQ(failure->kind, FailureKind::kWrongResult);
  return failure->message;
}

TEST(C01, WorkThatEndsAfterTheClockWasReadIsUnaccountedTime) {
  // 30 steps, read after 1 ms each although the work takes 20 ms: the rest shows before the answer.
  EXPECT_THAT(FaultOf(Records(30, 1, kMs, 0, 30 * 19 * kMs)),
              AllOf(HasSubstr("unaccounted time"), HasSubstr("30.000 ms"),
                    HasSubstr("571.000 ms after the last")));
  EXPECT_EQ(FaultOf(Records(30, 1, 20 * kMs, 0, 0)), "");
}

TEST(C02, StepsBelow95PercentOfTheTimeBetweenFirstAndLastAreRefused) {
  EXPECT_THAT(FaultOf(Records(100, 1, 10 * kMs, kMs, 0)), HasSubstr("between the steps"));
  EXPECT_EQ(FaultOf(Records(100, 1, 10 * kMs, kMs / 3, 0)), "");
}

TEST(C03, WaitingForTheLossAloneLeavesTheRestBeforeTheAnswer) {
  // The loss is there at once (0.1 ms), the weights after 15 ms: 20 steps, waited for at the end.
  EXPECT_THAT(FaultOf(Records(20, 1, kMs / 10, 0, 20 * 15 * kMs)), HasSubstr("unaccounted time"));
  EXPECT_EQ(FaultOf(Records(20, 1, 15 * kMs, 0, 0)), "");
}

TEST(C04, ABlocksTimeIsTheTimeOfTheWholeBlock) {
  for (const int steps : {1, 10, 100}) {
    const Ran ran = Records(10, steps, 2 * kMs, 0, 0);
    EXPECT_EQ(FaultOf(ran), "");
    const auto& record = ran.records.front();
    EXPECT_EQ((record.end_ns - record.begin_ns) / record.steps, 2 * kMs);
  }
  // A block's time claimed for every step of it runs beyond the answer.
  Ran multiplied = Records(10, 10, 2 * kMs, 0, 0);
  multiplied.reply_ns = multiplied.request_ns + 22 * kMs;
  EXPECT_THAT(FaultOf(multiplied), HasSubstr("after its answer came"));
}

TEST(RunTimesTest, MoreTimeThanHasPassedIsRefused) {
  Ran ran = Records(3, 1, 10 * kMs, 0, 0);
  ran.records[2].begin_ns -= 5 * kMs;
  EXPECT_THAT(FaultOf(ran), HasSubstr("record 2 begins 5.000 ms before record 1 ends"));
}

TEST(RunTimesTest, TimesOutsideTheBracketAreRefused) {
  Ran early = Records(3, 1, 10 * kMs, 0, 0);
  early.request_ns += 10 * kMs;
  EXPECT_THAT(FaultOf(early), HasSubstr("before it was asked for"));
  Ran late = Records(3, 1, 10 * kMs, 0, 0);
  late.reply_ns -= 10 * kMs;
  EXPECT_THAT(FaultOf(late), HasSubstr("after its answer came"));
  Ran wall_clock = Records(3, 1, 10 * kMs, 0, 0);
  for (auto& record : wall_clock.records) {
    record.begin_ns += 1'700'000'000'000'000'000;
    record.end_ns += 1'700'000'000'000'000'000;
  }
  EXPECT_THAT(FaultOf(wall_clock), HasSubstr("CLOCK_MONOTONIC"));
}

TEST(RunTimesTest, AStepWithoutDurationIsRefused) {
  Ran ran = Records(3, 1, 10 * kMs, 0, 0);
  ran.records[1].end_ns = ran.records[1].begin_ns;
  EXPECT_THAT(FaultOf(ran), HasSubstr("record 1 ends at or before its begin"));
  EXPECT_THAT(FaultOf(Ran{}), HasSubstr("no steps"));
}

TEST(RunTimesTest, RestoringTheWeightsIsAllowedForByTheirSize) {
  Ran ran = Records(10, 1, 10 * kMs, 0, 0);
  ran.request_ns -= 200 * kMs;
  EXPECT_THAT(FaultOf(ran), HasSubstr("201.000 ms passed before the first step"));
  EXPECT_EQ(FaultOf(ran, 200'000'000), "");
}

TEST(RunTimesTest, WaitingForAProcessorThatOthersHoldIsNotHeldAgainstTheAdapter) {
  Ran ran = Records(10, 1, 10 * kMs, 0, 0);
  ran.request_ns -= 60 * kMs;
  EXPECT_THAT(FaultOf(ran), HasSubstr("61.000 ms passed before the first step"));
  ran.kept_waiting_seconds = 0.04;
  EXPECT_EQ(FaultOf(ran), "");
  ran.request_ns -= 60 * kMs;
  EXPECT_THAT(FaultOf(ran), HasSubstr("unaccounted time")) << "no more than the waiting explains";
}

TEST(RunTimesTest, WaitingExcusesNoWorkBetweenTheSteps) {
  Ran ran = Records(100, 1, 10 * kMs, kMs, 0);
  ran.kept_waiting_seconds = 1.0;
  EXPECT_THAT(FaultOf(ran), HasSubstr("between the steps"));
}

TEST(RunTimesTest, LosingTheProcessorBetweenTwoStepsIsNotWorkBetweenThem) {
  Ran ran = Records(10, 1, kMs, 0, 0);
  for (std::size_t i = 5; i < ran.records.size(); ++i) {
    ran.records[i].begin_ns += 5 * kMs;
    ran.records[i].end_ns += 5 * kMs;
  }
  ran.reply_ns += 5 * kMs;
  EXPECT_THAT(FaultOf(ran), HasSubstr("between the steps")) << "nobody else worked meanwhile";
  ran.kept_waiting_seconds = 0.005;
  EXPECT_EQ(FaultOf(ran), "");
  ran.kept_waiting_seconds = 0.002;
  EXPECT_THAT(FaultOf(ran), HasSubstr("between the steps")) << "no more than the waiting explains";
}

Ran Worked(double cpu_seconds, double wall_seconds) {
  Ran ran;
  ran.reply_ns = static_cast<std::int64_t>(wall_seconds * 1e9);
  ran.cpu_seconds = cpu_seconds;
  return ran;
}

TEST(C47, FourBusyThreadsInsteadOfOneInvalidateTheRunAndAreNamed) {
  Ran ran = Worked(8.0, 2.0);
  ran.busy_threads = 4;
  ran.busy_thread_names = {"pool-worker x 4"};
  EXPECT_DOUBLE_EQ(ThreadsUsed(ran), 4.0);
  const auto failure = CheckThreads(ran, 1);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, FailureKind::kWrongThreads);
  EXPECT_THAT(failure->message, AllOf(HasSubstr("4.00 threads' worth"), HasSubstr("1 thread was"),
                                      HasSubstr("4 busy: pool-worker x 4")));
}

TEST(C47, UpToATenthMoreAndAnyLessPasses) {
  EXPECT_FALSE(CheckThreads(Worked(2.2, 1.0), 2).has_value());
  EXPECT_TRUE(CheckThreads(Worked(2.3, 1.0), 2).has_value());
  EXPECT_FALSE(CheckThreads(Worked(0.1, 1.0), 2).has_value());
}

}  // namespace
}  // namespace dlbench::worker
