#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "experiment/plan.h"

namespace dlbench::experiment {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(DLBENCH_SOURCE_DIR) / "experiments";

TEST(ShippedExperiments, EveryFileIsValid) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".toml") continue;
    const auto plan = LoadPlan(entry.path());
    EXPECT_TRUE(plan.ok()) << plan.error().message();
    ++files;
  }
  EXPECT_GT(files, 0);
}

/// So that --resume and a reader take one for the other.
TEST(ShippedExperiments, TheQuickOneIsTheComparisonOfQuickstart) {
  const auto plan = LoadPlan(kFolder / "quick-fcn-r.toml");
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  Plan typed;  // dlbench run fcn-r --frameworks onednn,pytorch,libtorch --quick
  typed.networks = {"fcn-r"};
  typed.frameworks = {"onednn", "pytorch", "libtorch"};
  MakeQuick(typed);
  EXPECT_EQ(ToJson(*plan), ToJson(typed));
}

}  // namespace
}  // namespace dlbench::experiment
