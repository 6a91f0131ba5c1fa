#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "gate_run.h"

namespace dlbench::decoys {
namespace {

/// An adapter that is right for ten steps, launched with a warm-up of 5 and 50 timed steps.
class C11 : public testing::Test {
 protected:
  C11()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("dlbench_c11_" + std::to_string(::getpid()))) {}
  ~C11() override { std::filesystem::remove_all(folder_); }

  Caught Timed(const std::string& adapter, const std::string& decoy) {
    auto run = GateRun::Make(DLBENCH_SOURCE_DIR "/tests/networks/decoy.toml", 16, 1, folder_);
    if (!run.ok()) throw std::runtime_error(run.error().message());
    LaunchOptions options;
    options.timed = true;
    options.warmup_steps = 5;
    options.timed_steps = 50;
    return FirstObjection(
        (*run)->Launch(GateRun::Adapter({adapter}, {{"DLBENCH_DECOY", decoy}}), options));
  }

 private:
  const std::filesystem::path folder_;
};

TEST_F(C11, WrongParametersFromTheEleventhStepOnAreCaughtOnTheStateThatWasTimed) {
  for (const char* decoy : {"half_work_after_ten", "claimed_steps"}) {
    const Caught caught = Timed(DECOY_ADAPTER, decoy);
    EXPECT_EQ(caught.check.rfind("run_", 0), 0U) << decoy << ": " << caught.check;
    EXPECT_NE(caught.moment, "before") << decoy << " is right before the timing";
  }
}

TEST_F(C11, TheSameLaunchOfAnHonestAdapterIsAccepted) {
  const Caught caught = Timed(PLAIN_ADAPTER, "");
  EXPECT_EQ(caught.check, "") << caught.reason;
}

}  // namespace
}  // namespace dlbench::decoys
