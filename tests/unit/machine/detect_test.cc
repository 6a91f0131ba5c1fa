#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fake_root.h"
#include "machine/cpu.h"
#include "machine/gpu.h"
#include "machine/machine.h"
#include "machine/version.h"

namespace dlbench::machine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

TEST(C24, PowersaveWithBoostIsWarnedAbout) {
  FakeRoot root;
  root.AddCpus(0, 1);
  root.FinishCpus(1);
  root.Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  root.Write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  const Machine machine = Detect(root.path());
  EXPECT_EQ(machine.governor, "powersave");
  EXPECT_EQ(machine.boost, true);
  EXPECT_THAT(machine.warnings, Contains(HasSubstr("powersave")));
  EXPECT_THAT(machine.warnings, Contains(HasSubstr("boost")));
}

TEST(C24, PerformanceWithoutBoostIsNot) {
  FakeRoot root;
  root.AddCpus(0, 1);
  root.FinishCpus(1);
  root.Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  root.Write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  const Machine machine = Detect(root.path());
  EXPECT_EQ(machine.governor, "performance");
  EXPECT_EQ(machine.boost, false);
  EXPECT_THAT(machine.warnings, IsEmpty());
}

TEST(C24, NoCpufreqIsUnknown) {
  FakeRoot root;
  root.AddCpus(0, 1);
  root.FinishCpus(1);
  const Machine machine = Detect(root.path());
  EXPECT_FALSE(machine.governor);
  EXPECT_FALSE(machine.boost);
  EXPECT_TRUE(nlohmann::json::parse(ToJson(machine))["governor"].is_null());
}

TEST(C50, HybridProcessorUsesItsFastCoresByDefault) {
  FakeRoot root;
  root.AddCpus(0, 19);
  root.FinishCpus(19);
  root.Write("sys/devices/cpu_core/cpus", "0-11\n");
  root.Write("sys/devices/cpu_atom/cpus", "12-19\n");
  const Machine machine = Detect(root.path());
  EXPECT_TRUE(machine.hybrid);
  EXPECT_EQ(machine.default_threads, 12);
  EXPECT_EQ(machine.default_cpus.size(), 12U);
  EXPECT_EQ(machine.default_cpus.back(), 11);
  EXPECT_EQ(machine.usable_threads, 20);
  const auto json = nlohmann::json::parse(ToJson(machine));
  EXPECT_EQ(json["hybrid"], true);
  EXPECT_EQ(json["default_cpus"].size(), 12U);
}

TEST(C50, OneKindOfCoreChangesNothing) {
  FakeRoot root;
  root.AddCpus(0, 7);
  root.FinishCpus(7);
  const Machine machine = Detect(root.path());
  EXPECT_FALSE(machine.hybrid);
  EXPECT_EQ(machine.default_threads, 8);
  EXPECT_EQ(machine.default_cpus, machine.affinity);
}

TEST(C51, TwoNodesBindToOneByDefault) {
  FakeRoot root;
  root.AddCpus(0, 7, 0, 0);
  root.AddCpus(8, 15, 1, 1);
  root.FinishCpus(15);
  root.Write("sys/devices/system/node/online", "0-1\n");
  const Machine machine = Detect(root.path());
  EXPECT_EQ(machine.numa_nodes, 2);
  EXPECT_EQ(machine.packages, 2);
  EXPECT_EQ(machine.default_node, 0);
  EXPECT_EQ(machine.default_cpus, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(machine.default_threads, 8);
  EXPECT_EQ(machine.usable_threads, 16);
  EXPECT_THAT(machine.warnings, Contains(HasSubstr("stay on node 0")));
}

TEST(C51, OneNodeIsNotMentioned) {
  FakeRoot root;
  root.AddCpus(0, 7);
  root.FinishCpus(7);
  const Machine machine = Detect(root.path());
  EXPECT_EQ(machine.numa_nodes, 1);
  EXPECT_FALSE(machine.default_node);
  EXPECT_THAT(machine.warnings, IsEmpty());
}

TEST(C57, VersionsStayTextAndCompareByPart) {
  EXPECT_TRUE(CompareVersions("1.13", "1.9") > 0);
  EXPECT_TRUE(CompareVersions("535.171.04", "418.87.01") > 0);
  EXPECT_TRUE(CompareVersions("570", "570.1") < 0);
  EXPECT_TRUE(CompareVersions("2.0.0rc1", "2.0.0") < 0);
  EXPECT_TRUE(CompareVersions("1.13.1+dfsg", "1.13.1") == 0);
  EXPECT_TRUE(CompareVersions("535.171.04", "535.171.4") == 0);
  EXPECT_TRUE(CompareVersions("", "12.2") < 0);
  EXPECT_EQ(ShownVersion(""), "unknown");
  EXPECT_EQ(ShownVersion("418.87.01"), "418.87.01");
  Machine machine;
  machine.gpus.push_back({"Test GPU", "418.87.01", 1});
  const auto json = nlohmann::json::parse(ToJson(machine));
  EXPECT_EQ(json["gpus"][0]["driver"], "418.87.01");
}

TEST(C59, WslIsKnownByItsKernel) {
  FakeRoot root;
  root.AddCpus(0, 1);
  root.FinishCpus(1);
  root.Write("proc/sys/kernel/osrelease", "5.15.90.1-Microsoft-standard-WSL2\n");
  const Machine machine = Detect(root.path());
  EXPECT_EQ(machine.virtualization, "wsl");
}

TEST(C59, VirtualMachineIsNamedAndWhatItLacksIsListed) {
  FakeRoot root;
  root.AddCpus(0, 1);
  root.FinishCpus(1);
  root.Write("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu avx hypervisor\n");
  root.Write("sys/class/dmi/id/sys_vendor", "VMware, Inc.\n");
  const Machine machine = Detect(root.path());
  EXPECT_EQ(machine.virtualization, "vmware");
  EXPECT_THAT(machine.unavailable,
              IsSupersetOf({HasSubstr("governor"), HasSubstr("energy"), HasSubstr("cycle")}));
}

TEST(C59, BareMachineAndSilentHypervisorAreToldApart) {
  const FakeRoot root;
  CpuInfo bare{"", "", {"fpu"}};
  CpuInfo guest{"", "", {"fpu", "hypervisor"}};
  CpuInfo other{"", "", {"asimd"}};
  EXPECT_EQ(ReadVirtualization(root.path(), bare, "6.1.0"), "none");
  EXPECT_EQ(ReadVirtualization(root.path(), guest, "6.1.0"), "unnamed");
  EXPECT_FALSE(ReadVirtualization(root.path(), other, "6.1.0"));
}

TEST(C68, BadBytesFromTheSystemAreEscapedAndNoted) {
  FakeRoot root;
  root.AddCpus(0, 1);
  root.FinishCpus(1);
  root.Write("proc/sys/kernel/hostname", "caf\xff\n");
  root.Write("proc/cpuinfo", "vendor_id : X\nmodel name : Pro\xff Fast\nflags : fpu\n");
  const Machine machine = Detect(root.path());
  EXPECT_EQ(machine.host_name, "caf\\xff");
  EXPECT_THAT(machine.warnings, Contains(HasSubstr("host name is not valid UTF-8")));
  const auto json = nlohmann::json::parse(ToJson(machine));
  EXPECT_EQ(json["cpu_model"], "Pro\\xff Fast");
  EXPECT_EQ(json["memory_bytes"], 16000000ULL * 1024);
}

TEST(C68, RecordIsWrittenEvenIfATextSlipsThrough) {
  Machine machine;
  machine.os = "bad \xff";
  EXPECT_TRUE(nlohmann::json::accept(ToJson(machine)));
}

TEST(Detect, EmptyRootGivesUnknownsAndOneThread) {
  const FakeRoot root;
  const Machine machine = Detect(root.path());
  EXPECT_GE(machine.usable_threads, 1);
  EXPECT_GE(machine.default_threads, 1);
  EXPECT_FALSE(machine.virtualization);
  const auto json = nlohmann::json::parse(ToJson(machine));
  EXPECT_TRUE(json["cpu_model"].is_null());
  EXPECT_TRUE(json["memory_bytes"].is_null());
}

TEST(Detect, ThisMachineIsRead) {
  const Machine machine = Detect();
  EXPECT_GE(machine.usable_threads, 1);
  EXPECT_GT(machine.memory_bytes, 0U);
  EXPECT_FALSE(machine.affinity.empty());
  EXPECT_FALSE(machine.kernel.empty());
  EXPECT_TRUE(nlohmann::json::accept(ToJson(machine)));
}

TEST(Detect, NoDriverMeansNoGpus) { EXPECT_TRUE(ReadGpus("libno-such-driver.so.9").empty()); }

TEST(Fingerprint, IsStableAndChangesWithWhatMatters) {
  Machine machine;
  machine.cpu_model = "Test CPU";
  machine.memory_bytes = 16'000'000'000;
  const std::string fingerprint = Fingerprint(machine);
  EXPECT_EQ(fingerprint.size(), 16U);
  Machine same = machine;
  same.host_name = "another";
  same.memory_bytes += 4096;
  EXPECT_EQ(Fingerprint(same), fingerprint);
  Machine quota = machine;
  quota.cgroup_cpu_quota = 1.5;
  EXPECT_NE(Fingerprint(quota), fingerprint);
  Machine kernel = machine;
  kernel.kernel = "6.1";
  EXPECT_NE(Fingerprint(kernel), fingerprint);
}

TEST(CpuList, RangesAndErrors) {
  EXPECT_EQ(ParseCpuList("0-2,8").value(), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_TRUE(ParseCpuList("\n").value().empty());
  for (const char* bad : {"3-1", "a", "1,,2", "-1", "0-99999999", "1-", "0-2147483648"}) {
    EXPECT_FALSE(ParseCpuList(bad).ok()) << bad;
  }
}

TEST(CpuInfo, FirstProcessorCountsAndArmIsRead) {
  const CpuInfo x86 = ParseCpuInfo("model name: A\nflags: fpu avx2\n\nmodel name: B\nflags: sse\n");
  EXPECT_EQ(x86.model, "A");
  EXPECT_EQ(IsaOf(x86), (std::vector<std::string>{"avx2"}));
  const CpuInfo arm = ParseCpuInfo("Features : fp asimd sve\nCPU implementer : 0x41\n");
  EXPECT_EQ(arm.vendor, "0x41");
  EXPECT_EQ(IsaOf(arm), (std::vector<std::string>{"asimd", "sve"}));
}

}  // namespace
}  // namespace dlbench::machine
