#include "worker/process_table.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

#include "worker/usage.h"

namespace dlbench::worker {
namespace {

TEST(ProcessTableTest, NamesWithBlanksAndParenthesesAreRead) {
  const auto info = ParseProcessStat(
      "42 (a) (b c) Z 7 40 39 0 -1 4 0 0 0 0 150 50 300 100 20 0 1 0 987 0 0 18446744073709551615");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->pid, 42);
  EXPECT_EQ(info->name, "a) (b c");
  EXPECT_EQ(info->state, 'Z');
  EXPECT_EQ(info->parent, 7);
  EXPECT_EQ(info->group, 40);
  EXPECT_EQ(info->session, 39);
  EXPECT_DOUBLE_EQ(info->cpu_seconds, 200.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  EXPECT_DOUBLE_EQ(info->child_cpu_seconds, 400.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(info->start_ticks, 987U);
}

TEST(ProcessTableTest, TextThatIsNoStatLineIsNothing) {
  EXPECT_FALSE(ParseProcessStat("").has_value());
  EXPECT_FALSE(ParseProcessStat("1 (a) S 2 3").has_value());
  EXPECT_FALSE(ParseProcessStat(")(").has_value());
}

TEST(ProcessTableTest, WeAreInTheTable) {
  const auto table = ReadProcessTable();
  EXPECT_TRUE(std::any_of(table.begin(), table.end(),
                          [](const ProcessInfo& info) { return info.pid == ::getpid(); }));
}

TEST(UsageTest, StatusBytesReadsItsOwnLineOnly) {
  EXPECT_EQ(StatusBytes("Name:\tVmRSS: 9 kB\nVmRSS:\t     12 kB\n", "VmRSS:"), 12U * 1024U);
  EXPECT_EQ(StatusBytes("VmRSS:\tnone\n", "VmRSS:"), 0U);
  EXPECT_EQ(StatusBytes("", "VmRSS:"), 0U);
}

TEST(UsageTest, ProcessorTimeOfOneselfGrowsWithWork) {
  std::vector<ProcessInfo> self(1);
  self[0].pid = ::getpid();
  ThreadWatch watch;
  watch.Begin(self);
  const double before = GroupCpuSeconds(self);
  while (GroupCpuSeconds(self) < before + 0.02) {
  }
  watch.Look(self);
  ASSERT_EQ(watch.BusierThan(0.01).size(), 1U);
  EXPECT_TRUE(watch.BusierThan(1000.0).empty());
  EXPECT_GT(ReadGroupMemory(self, UINT64_MAX).resident_bytes, 0U);
}

double ThreadCpuSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

TEST(UsageTest, ThreadsThatShareAProcessorWaitForIt) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "the kernel does not say";
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int first = 0;
  while (CPU_ISSET(first, &allowed) == 0) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);

  std::vector<ProcessInfo> self(1);
  self[0].pid = ::getpid();
  ThreadWatch watch;
  watch.Begin(self);
  EXPECT_EQ(watch.WaitedSeconds(), 0.0);
  const auto work = [](double seconds) {
    const double end = ThreadCpuSeconds() + seconds;
    while (ThreadCpuSeconds() < end) {
    }
  };
  // The other works for longer, so that it is there to be looked at.
  std::thread other([&] { work(0.2); });
  work(0.1);
  watch.Look(self);
  // While this thread works for 0.1 s, one of the two waits.
  EXPECT_GT(watch.WaitedSeconds(), 0.03);
  other.join();
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace
}  // namespace dlbench::worker
