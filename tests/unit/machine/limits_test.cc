#include <gmock/gmock.h>

#include "fake_root.h"
#include "machine/cgroup.h"
#include "machine/machine.h"

namespace dlbench::machine {
namespace {

using ::testing::HasSubstr;

constexpr char kV2[] = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
constexpr char kV1[] =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

/// usable_threads on a machine of 16 cores whose only group has this cpu.max.
int ThreadsUnder(std::string_view cpu_max) {
  FakeRoot root;
  root.AddCpus(0, 15);
  root.FinishCpus(15);
  root.Write("proc/self/mountinfo", kV2);
  root.Write("proc/self/cgroup", "0::/\n");
  root.Write("sys/fs/cgroup/cpu.max", cpu_max);
  return Detect(root.path()).usable_threads;
}

TEST(C45, QuotaOfVersion2IsRoundedDownToAtLeastOneThread) {
  EXPECT_EQ(ThreadsUnder("150000 100000\n"), 1);
  EXPECT_EQ(ThreadsUnder("765000 100000\n"), 7);
  EXPECT_EQ(ThreadsUnder("50000 100000\n"), 1);
  EXPECT_EQ(ThreadsUnder("max 100000\n"), 16);
}

TEST(C45, QuotaOfVersion1) {
  const auto threads = [](const char* quota) {
    FakeRoot root;
    root.AddCpus(0, 15);
    root.FinishCpus(15);
    root.Write("proc/self/mountinfo", kV1);
    root.Write("proc/self/cgroup", "4:memory:/\n1:cpu,cpuacct:/\n0::/\n");
    root.Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota);
    root.Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    return Detect(root.path()).usable_threads;
  };
  EXPECT_EQ(threads("-1\n"), 16);
  EXPECT_EQ(threads("200000\n"), 2);
}

TEST(C45, NestedGroupsTakeTheSmallest) {
  FakeRoot root;
  root.Write("proc/self/mountinfo", kV2);
  root.Write("proc/self/cgroup", "0::/a/b/c\n");
  root.Write("sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  root.Write("sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
  root.Write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  root.Write("sys/fs/cgroup/a/memory.max", "1073741824\n");
  root.Write("sys/fs/cgroup/a/b/c/memory.max", "2147483648\n");
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_DOUBLE_EQ(limits.cpus.value_or(0), 2.0);
  EXPECT_EQ(limits.memory_bytes, 1073741824U);
  EXPECT_TRUE(limits.warnings.empty());
}

TEST(C45, GroupBelowTheMountsOwnRootIsFound) {
  // A container without its own namespace: the mount shows /docker/x as its top.
  FakeRoot root;
  root.Write("proc/self/mountinfo",
             "32 31 0:29 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  root.Write("proc/self/cgroup", "1:cpu:/docker/x\n");
  root.Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
  root.Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(ReadCgroupLimits(root.path()).cpus.value_or(0), 2.5);
}

TEST(C45, MissingFilesMeanNoLimit) {
  FakeRoot root;
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_FALSE(limits.cpus);
  EXPECT_FALSE(limits.memory_bytes);
  EXPECT_FALSE(limits.throttled_periods);
  EXPECT_TRUE(limits.warnings.empty());
}

TEST(C45, GarbageIsNoLimitAndAWarningThatNamesTheFile) {
  for (const char* text : {"lots 100000", "100000 0", "100000 -5", "1e5 100000", "-1 100000",
                           "1 2 3", "100000 \xff", "99999999999999999999 100000"}) {
    FakeRoot root;
    root.Write("proc/self/mountinfo", kV2);
    root.Write("proc/self/cgroup", "0::/\n");
    root.Write("sys/fs/cgroup/cpu.max", text);
    const CgroupLimits limits = ReadCgroupLimits(root.path());
    EXPECT_FALSE(limits.cpus) << text;
    ASSERT_EQ(limits.warnings.size(), 1U) << text;
    EXPECT_THAT(limits.warnings[0], HasSubstr("cpu.max"));
    EXPECT_THAT(limits.warnings[0], HasSubstr("no limit"));
  }
}

TEST(C45, GroupOutsideTheNamespaceReadsOnlyTheTop) {
  FakeRoot root;
  root.Write("proc/self/mountinfo", kV2);
  root.Write("proc/self/cgroup", "0::/../../other\n");
  root.Write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  root.Write("other/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(ReadCgroupLimits(root.path()).cpus.value_or(0), 4.0);
}

TEST(C45, ThrottledPeriodsAreThoseOfTheProcessesOwnGroup) {
  FakeRoot root;
  root.Write("proc/self/mountinfo", kV2);
  root.Write("proc/self/cgroup", "0::/a\n");
  root.Write("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 4\n");
  root.Write("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  EXPECT_EQ(ThrottledPeriods(root.path()), 4U);
  EXPECT_FALSE(ParseThrottled("nr_throttled\n"));
  EXPECT_FALSE(ParseThrottled("nr_throttled -1\n"));
}

TEST(Limits, MemoryOfVersion1HasAHugeNumberForNoLimit) {
  EXPECT_FALSE(ParseMemoryLimit("9223372036854771712").value());
  EXPECT_FALSE(ParseMemoryLimit("max\n").value());
  EXPECT_EQ(ParseMemoryLimit("4096").value(), 4096U);
  EXPECT_FALSE(ParseMemoryLimit("4k").ok());
}

TEST(C48, AffinityLimitsThreads) {
  FakeRoot root;
  root.AddCpus(0, 15);
  root.FinishCpus(15);
  root.Write("proc/self/status", "Cpus_allowed_list:\t3,5\n");
  const Machine machine = Detect(root.path());
  EXPECT_EQ(machine.affinity, (std::vector<int>{3, 5}));
  EXPECT_EQ(machine.usable_threads, 2);
  EXPECT_EQ(machine.cores, 16);
}

}  // namespace
}  // namespace dlbench::machine
