#include <gmock/gmock.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/file.h"
#include "measure/measure.h"

namespace dlbench::measure {
namespace {

using testing::DoubleNear;
using testing::Optional;

constexpr std::int64_t kMs = 1'000'000;

/// One record after the other, `gap_ns` apart, of `steps` steps each.
std::vector<StepRecord> Records(const std::vector<std::int64_t>& durations_ns,
                                std::uint32_t steps = 1, std::int64_t gap_ns = 0) {
  std::vector<StepRecord> records;
  std::int64_t now = 1000;
  for (const std::int64_t duration : durations_ns) {
    records.push_back({steps, now, now + duration});
    now += duration + gap_ns;
  }
  return records;
}

TEST(C04, InnerRepeatIsDividedOut) {
  for (const std::uint32_t repeat : {1U, 10U, 100U}) {
    const auto summary =
        Summarize(Records(std::vector<std::int64_t>(30, 2 * kMs * repeat), repeat));
    ASSERT_TRUE(summary);
    EXPECT_DOUBLE_EQ(summary->median_step_seconds, 0.002) << repeat;
    EXPECT_DOUBLE_EQ(summary->mean_step_seconds, 0.002) << repeat;
    EXPECT_EQ(summary->steps, 30 * static_cast<std::int64_t>(repeat));
  }
}

TEST(C07, DurationsComeFromTheMonotonicReadingsAlone) {
  // The calendar goes back by 2 s during a launch of 1.5 s.
  class AdjustedClock final : public Clock {
   public:
    std::int64_t MonotonicNs() override { return 10'000'000'000 + calls_++ * 1'500'000'000; }
    std::string CalendarLabel() override {
      return calls_ < 2 ? "2026-11-30T23:05:02Z" : "2026-11-30T23:05:00Z";
    }

   private:
    std::int64_t calls_ = 0;
  } clock;
  const std::int64_t begin = clock.MonotonicNs();
  const std::int64_t end = clock.MonotonicNs();
  const auto summary = Summarize(std::vector<StepRecord>{{1, begin, end}});
  EXPECT_THAT(summary->mean_step_seconds, 1.5);
}

TEST(C07, MeasuringCodeNeverAsksForTheCalendarTime) {
  for (const char* part : {"src/measure", "src/stats", "src/worker", "adapters"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(DLBENCH_SOURCE_DIR) / part)) {
      if (!entry.is_regular_file()) continue;
      const auto text = ReadFile(entry.path());
      ASSERT_TRUE(text.ok());
      for (const char* call : {"system_clock", "gettimeofday", "CLOCK_REALTIME", "CalendarLabel",
                               "time.time(", "datetime."}) {
        EXPECT_EQ(text->find(call), std::string::npos) << entry.path() << " uses " << call;
      }
    }
  }
}

TEST(C10, ConstantStepsGiveTheirDurationForEveryFigure) {
  for (const std::int64_t duration : {1'000'000'000L, 137L, 5'600'000L, 3L}) {
    for (std::size_t warmup = 0; warmup <= 5; ++warmup) {
      for (std::size_t count = 1; count <= 50; ++count) {
        const auto all = Records(std::vector<std::int64_t>(warmup + count, duration));
        const auto summary = Summarize(std::span(all).subspan(warmup));
        ASSERT_TRUE(summary);
        const double seconds = static_cast<double>(duration) / 1e9;
        EXPECT_EQ(summary->mean_step_seconds, seconds);
        EXPECT_EQ(summary->median_step_seconds, seconds);
        EXPECT_EQ(summary->min_step_seconds, seconds);
        EXPECT_EQ(summary->max_step_seconds, seconds);
        EXPECT_EQ(summary->p95_step_seconds, seconds);
        EXPECT_EQ(summary->p99_step_seconds, seconds);
        EXPECT_EQ(summary->steps, static_cast<std::int64_t>(count));
      }
    }
  }
}

TEST(C21, ThroughputByTotalAndByMedianHaveTheirOwnNames) {
  const auto records = Records({100 * kMs, 100 * kMs, 100 * kMs, 400 * kMs});
  const auto summary = Summarize(records, 1);
  ASSERT_TRUE(summary);
  EXPECT_NEAR(SamplesPerSecond(32, summary->mean_step_seconds), 182.857, 5e-4);
  EXPECT_NEAR(SamplesPerSecond(32, summary->median_step_seconds), 320.0, 1e-9);
  EXPECT_EQ(summary->steps, 4);
  EXPECT_TRUE(HasStalls(*summary));
}

TEST(C23, MedianOfTheLaunchIgnoresOneStallAndTheMeanShowsIt) {
  const auto records = Records({10 * kMs, 10 * kMs, 10 * kMs, 10 * kMs, 100 * kMs});
  const auto summary = Summarize(records, 1, 1);
  EXPECT_DOUBLE_EQ(summary->median_step_seconds, 0.010);
  EXPECT_DOUBLE_EQ(summary->mean_step_seconds, 0.028);
  EXPECT_EQ(summary->blocks, 5);
}

TEST(Summary, BlocksNeedBothTheirStepsAndTheirTime) {
  // Steps of 3 ms: 20 ms need 7 of them. 15 steps: two blocks and a tail of one.
  const auto by_time = Summarize(Records(std::vector<std::int64_t>(15, 3 * kMs)));
  EXPECT_EQ(by_time->blocks, 2);
  // Steps of 30 ms: the time is reached at once, 5 steps are not.
  const auto by_steps = Summarize(Records(std::vector<std::int64_t>(14, 30 * kMs)));
  EXPECT_EQ(by_steps->blocks, 2);
}

TEST(Summary, ShortTailCountsInTheMeanOnly) {
  std::vector<std::int64_t> durations(10, 10 * kMs);
  durations.push_back(120 * kMs);
  const auto summary = Summarize(Records(durations));
  EXPECT_EQ(summary->blocks, 2);
  EXPECT_DOUBLE_EQ(summary->median_step_seconds, 0.010);
  EXPECT_DOUBLE_EQ(summary->mean_step_seconds, 0.020);
  EXPECT_EQ(summary->steps, 11);
}

TEST(Summary, WindowShorterThanABlockIsItselfTheBlock) {
  const auto summary = Summarize(Records({10 * kMs, 20 * kMs, 60 * kMs}));
  EXPECT_EQ(summary->blocks, 1);
  EXPECT_DOUBLE_EQ(summary->median_step_seconds, 0.030);
}

TEST(Summary, MedianIsThatOfBlockMeansNotOfSteps) {
  // Blocks of two steps: 15, 35, 25 ms; their median is 25, that of the steps 20.
  const auto records = Records({10 * kMs, 20 * kMs, 10 * kMs, 60 * kMs, 20 * kMs, 30 * kMs});
  EXPECT_DOUBLE_EQ(Summarize(records, 2, 1)->median_step_seconds, 0.025);
}

TEST(Summary, TimeBetweenRecordsIsNotStepTime) {
  const auto summary = Summarize(Records(std::vector<std::int64_t>(10, 10 * kMs), 1, 90 * kMs));
  EXPECT_DOUBLE_EQ(summary->mean_step_seconds, 0.010);
}

TEST(Summary, PercentilesAreTypeSevenOfSingleSteps) {
  std::vector<std::int64_t> durations;
  for (std::int64_t i = 1; i <= 101; ++i) durations.push_back(i * kMs);
  const auto summary = Summarize(Records(durations));
  EXPECT_THAT(summary->p95_step_seconds, Optional(DoubleNear(0.096, 1e-12)));
  EXPECT_THAT(summary->p99_step_seconds, Optional(DoubleNear(0.100, 1e-12)));
  EXPECT_DOUBLE_EQ(summary->min_step_seconds, 0.001);
  EXPECT_DOUBLE_EQ(summary->max_step_seconds, 0.101);
}

TEST(Summary, PercentilesAreAbsentWhereStepsWereNotTimedOneByOne) {
  auto records = Records(std::vector<std::int64_t>(10, 10 * kMs));
  records[3].steps = 2;
  const auto summary = Summarize(records);
  ASSERT_TRUE(summary);
  EXPECT_FALSE(summary->p95_step_seconds);
  EXPECT_FALSE(summary->p99_step_seconds);
}

TEST(Summary, RecordsHowItsBlocksWereFormed) {
  const auto summary = Summarize(Records({10 * kMs}), 7, 9);
  EXPECT_EQ(summary->minimum_block_steps, 7);
  EXPECT_EQ(summary->minimum_block_ns, 9);
}

TEST(Summary, UnusableRecordsGiveNothing) {
  EXPECT_FALSE(Summarize({}));
  EXPECT_FALSE(Summarize(std::vector<StepRecord>{{0, 10, 20}})) << "no steps";
  EXPECT_FALSE(Summarize(std::vector<StepRecord>{{1, 10, 10}})) << "no duration";
  EXPECT_FALSE(Summarize(std::vector<StepRecord>{{1, 20, 10}})) << "negative duration";
  EXPECT_FALSE(Summarize(std::vector<StepRecord>{{1, -20, 10}})) << "before the clock's origin";
  EXPECT_FALSE(Summarize(std::vector<StepRecord>{{1, 10, 20}, {1, 19, 30}})) << "overlap";
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(Summarize(std::vector<StepRecord>{{1, kLeast, kMost}})) << "overflow";
}

TEST(Summary, StallsNeedAMeanTenPercentAboveTheMedian) {
  LaunchSummary summary;
  summary.median_step_seconds = 1.0;
  summary.mean_step_seconds = 1.09;
  EXPECT_FALSE(HasStalls(summary));
  summary.mean_step_seconds = 1.11;
  EXPECT_TRUE(HasStalls(summary));
}

}  // namespace
}  // namespace dlbench::measure
