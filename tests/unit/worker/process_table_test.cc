#include "worker/process_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

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

}  // namespace
}  // namespace dlbench::worker
