#include <gmock/gmock.h>

#include <cmath>

#include "core/file.h"
#include "fake_root.h"
#include "machine/bandwidth.h"
#include "machine/disturbance.h"
#include "machine/fma.h"
#include "machine/gemm.h"
#include "machine/peaks_here.h"
#include "machine/team.h"

namespace dlbench::machine {
namespace {

int g_measured = 0;  // How often the fake below ran.
bool g_disturbed = false;

std::vector<Peak> FakeMeasure(const PeakOptions& options) {
  ++g_measured;
  std::vector<Peak> peaks;
  for (const int threads : options.threads) {
    peaks.push_back({"fma_float32", threads, 1e9 * threads + g_measured, "fake", g_disturbed});
  }
  return peaks;
}

class Cached : public ::testing::Test {
 protected:
  void SetUp() override {
    g_measured = 0;
    g_disturbed = false;
  }
  std::vector<Peak> Get(std::vector<int> threads, std::int64_t now) {
    return CachedPeaksWith(machine_, {std::move(threads), 0.1}, root_.path() / "cache", FakeMeasure,
                           now);
  }
  std::filesystem::path File() {
    return root_.path() / "cache" / ("peaks-" + Fingerprint(machine_) + ".json");
  }
  FakeRoot root_;
  Machine machine_;
};

TEST_F(Cached, SecondCallReadsTheFile) {
  const auto first = Get({1, 2}, 1000);
  const auto second = Get({1, 2}, 1000 + 10'000'000);
  EXPECT_EQ(g_measured, 1);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[1].per_second, first[1].per_second);
  EXPECT_EQ(FindPeak(second, "fma_float32", 2), first[1].per_second);
}

TEST_F(Cached, OnlyMissingThreadCountsAreMeasured) {
  Get({1}, 1000);
  const auto both = Get({1, 2}, 1001);
  EXPECT_EQ(g_measured, 2);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].per_second, 1e9 + 1);
  EXPECT_EQ(both[1].per_second, 2e9 + 2);
  EXPECT_EQ(Get({1}, 1002).size(), 1U);
}

TEST_F(Cached, DisturbedPeaksLastAnHour) {
  g_disturbed = true;
  Get({1}, 1000);
  EXPECT_FALSE(FindPeak(Get({1}, 1000 + 3600), "fma_float32", 1));
  EXPECT_EQ(g_measured, 1);
  g_disturbed = false;
  EXPECT_TRUE(FindPeak(Get({1}, 1000 + 3601), "fma_float32", 1));
  EXPECT_EQ(g_measured, 2);
}

TEST_F(Cached, DamagedForeignOrNewerFilesAreMeasuredAnew) {
  for (const std::string& text : std::vector<std::string>{
           "", "{", "[]", "null", R"({"version":1,"fingerprint":"x","peaks":[]})",
           R"({"version":2,"fingerprint":")" + Fingerprint(machine_) + R"(","peaks":[]})",
           R"({"version":1,"fingerprint":")" + Fingerprint(machine_) +
               R"(","peaks":[{"what":1}]})"}) {
    g_measured = 0;
    std::filesystem::create_directories(File().parent_path());
    ASSERT_TRUE(WriteFileAtomically(File(), text).ok());
    EXPECT_EQ(Get({1}, 1000).size(), 1U) << text;
    EXPECT_EQ(g_measured, 1) << text;
  }
}

TEST_F(Cached, FolderThatCannotBeWrittenStillGivesPeaks) {
  const auto peaks =
      CachedPeaksWith(machine_, {{1}, 0.1}, "/proc/no-such-folder", FakeMeasure, 1000);
  EXPECT_EQ(peaks.size(), 1U);
}

TEST(Peaks, KernelsComputeWhatTheyCount) {
  for (const bool float64 : {false, true}) {
    for (const FmaKernel& kernel : FmaKernels(float64)) {
      // Every lane tends to 1 (fma.cc), so the sum tells the number of lanes, and that the number
      // of operations. Few rounds leave the lanes apart, so the loop is not optimised away.
      EXPECT_NEAR(kernel.run(5000) * 2, kernel.flop_per_loop, 1e-2) << kernel.name;
      EXPECT_GT(std::abs(kernel.run(10) * 2 - kernel.flop_per_loop), 1.0) << kernel.name;
    }
  }
}

TEST(Peaks, EigenAndOneDnnMultiply) {
  const GemmShape shape{3, 5, 7};
  const std::vector<float> a(21, 2.0F);
  const std::vector<float> b(35, 3.0F);
  std::vector<float> c(15, -1.0F);
  BestEigenGemm().run_float(shape, a.data(), b.data(), c.data());
  EXPECT_THAT(c, ::testing::Each(42.0F));
  const std::vector<double> a64(21, 2.0);
  const std::vector<double> b64(35, 3.0);
  std::vector<double> c64(15, -1.0);
  BestEigenGemm().run_double(shape, a64.data(), b64.data(), c64.data());
  EXPECT_THAT(c64, ::testing::Each(42.0));
}

TEST(Peaks, AreMeasuredInAChildThatLeavesNoOpenMpBehind) {
  const auto peaks = MeasurePeaks({{1}, 0.001});
  ASSERT_EQ(peaks.size(), 5U);
  for (const Peak& peak : peaks) {
    EXPECT_GT(peak.per_second, 0) << peak.what;
    EXPECT_EQ(peak.threads, 1);
    EXPECT_FALSE(peak.how.empty());
  }
  const auto maps = ReadFile("/proc/self/maps");
  ASSERT_TRUE(maps.ok());
  EXPECT_EQ(maps->find("libdnnl"), std::string::npos);
}

TEST(Peaks, ThreadCountsBelowOneAreLeftOut) { EXPECT_TRUE(MeasurePeaks({{0, -1}, 0.001}).empty()); }

TEST(Peaks, TriadCountsThreeArrays) {
  Triad triad(2, 1 << 20);
  EXPECT_DOUBLE_EQ(triad.Run(), 3.0 * (1 << 20));
}

TEST(Peaks, TriadArraysAreBoundedByCacheAndMemory) {
  constexpr std::size_t kMiB = 1 << 20;
  EXPECT_EQ(TriadBytes(0, 0), 64 * kMiB);
  EXPECT_EQ(TriadBytes(32 * kMiB, 0), 128 * kMiB);
  EXPECT_EQ(TriadBytes(260 * kMiB, 0), 256 * kMiB);
  EXPECT_EQ(TriadBytes(32 * kMiB, 512 * kMiB), 32 * kMiB);
}

TEST(Peaks, EveryThreadOfATeamRunsOnce) {
  std::vector<int> ran(4, 0);
  RunTogether(4, [&](int thread) { ++ran[static_cast<std::size_t>(thread)]; });
  EXPECT_THAT(ran, ::testing::Each(1));
}

TEST(Disturbance, BusyTimeLeavesIdleAndGuestsOut) {
  EXPECT_DOUBLE_EQ(*ParseBusySeconds("cpu  100 20 30 1000 500 5 5 40 7 7\ncpu0 1\n", 100), 2.0);
  EXPECT_FALSE(ParseBusySeconds("cpu 1 2", 100));
  EXPECT_FALSE(ParseBusySeconds("cpu 1 x 3 4", 100));
  EXPECT_FALSE(ParseBusySeconds("intr 1 2 3 4", 100));
  EXPECT_FALSE(ParseBusySeconds("", 100));
}

TEST(Disturbance, TimeTakenByOthersIsSeen) {
  FakeRoot root;
  root.Write("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");
  const DisturbanceWatch watch(root.path());
  EXPECT_FALSE(watch.Disturbed(0));
  root.Write("proc/stat", "cpu  100000 0 0 0 0 0 0 0 0 0\n");
  EXPECT_TRUE(watch.Disturbed(0));
}

}  // namespace
}  // namespace dlbench::machine
