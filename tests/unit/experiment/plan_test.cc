#include "experiment/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace dlbench::experiment {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kLeast = "networks = 'fcn-r'\nframeworks = ['onednn']\n";

Plan Parsed(const std::string& text) {
  const auto plan = ParsePlan(text, "a.toml");
  EXPECT_TRUE(plan.ok()) << plan.error().message();
  return plan.ok() ? *plan : Plan{};
}

TEST(ParsePlanTest, ReadsEveryKeyAndOneValueAsAList) {
  const Plan plan = Parsed(
      "name = 'night'\nnetworks = ['a', 'b']\nframeworks = 'x'\npresets = 'default'\nbatch = 32\n"
      "threads = [1, 2]\nmode = 'train'\ndevice = 'cpu'\nprecision = 'float32'\n"
      "input = ['resident', 'fed']\nsettings = { a = 'b' }\ndata = 'synthetic'\nseed = 7\n"
      "rounds = 12\nwarmup_seconds = 0.5\nlaunch_seconds = 3\nmargin = 0.02\n"
      "memory_limit_bytes = 1000000\n");
  EXPECT_EQ(plan.name, "night");
  EXPECT_THAT(plan.networks, ElementsAre("a", "b"));
  EXPECT_THAT(plan.batches, ElementsAre(32));
  EXPECT_THAT(plan.threads, ElementsAre(1, 2));
  EXPECT_THAT(plan.inputs, ElementsAre("resident", "fed"));
  EXPECT_EQ(plan.settings.at("a"), "b");
  EXPECT_EQ(plan.seed, 7U);
  EXPECT_EQ(plan.rounds, 12);
  EXPECT_EQ(plan.launch_seconds, 3.0);
  EXPECT_EQ(plan.margin, 0.02);
  EXPECT_EQ(plan.memory_limit_bytes, 1'000'000U);
}

TEST(ParsePlanTest, WhatIsSaidStandsOverTheQuickLook) {
  const Plan plan = Parsed(std::string("rounds = 20\n") + kLeast + "quick = true\n");
  EXPECT_TRUE(plan.quick);
  EXPECT_EQ(plan.rounds, 20);
  EXPECT_EQ(plan.launch_seconds, 1.0);
  EXPECT_EQ(plan.warmup_seconds, 0.5);
}

/// A line added to a plan that is well otherwise, and what must be said of it.
struct Wrong {
  std::string line;
  std::string message;
};
void PrintTo(const Wrong& wrong, std::ostream* stream) { *stream << wrong.line; }

class WrongPlanTest : public testing::TestWithParam<Wrong> {};

TEST_P(WrongPlanTest, IsRefusedWithItsPlace) {
  const auto plan = ParsePlan(kLeast + GetParam().line, "a.toml");
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code(), ErrorCode::kInput);
  EXPECT_THAT(plan.error().message(), AllOf(StartsWith("a.toml:"), HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongPlanTest,
    testing::Values(
        Wrong{"round = 3", "3:9: unknown key 'round'; did you mean 'rounds'?"},
        Wrong{"zzzz = 3", "3:8: unknown key 'zzzz'; known: "},
        Wrong{"rounds = 'many'", "3:10: 'rounds' must be an integer"},
        Wrong{"rounds = 1.5", "3:10: 'rounds' must be an integer"},
        Wrong{"rounds = 0", "3:10: 'rounds' is 0"}, Wrong{"rounds = 1001", "between 1 and 1000"},
        Wrong{"batch = -1", "3:9: 'batch' is -1; it must be between"},
        Wrong{"batch = [64, -1]", "3:14: 'batch' is -1"},
        Wrong{"batch = [64, 64]", "batch: '64' is named twice"},
        Wrong{"threads = [1, 1]", "threads: '1' is named twice"},
        Wrong{"input = ['fed', 'fed']", "input: 'fed' is named twice"},
        Wrong{"seed = -1", "3:8: 'seed' is -1"},
        Wrong{"quick = 1", "3:9: 'quick' must be true or false"},
        Wrong{"settings = 'a'", "3:12: 'settings' must be a table"},
        Wrong{"settings = { a = 1 }", "3:18: 'a' must be a text"},
        Wrong{"launch_seconds = -1", "more than 0"}, Wrong{"launch_seconds = nan", "more than 0"},
        Wrong{"warmup_seconds = inf", "at most 3600"}, Wrong{"margin = 0", "between 0 and 1"},
        Wrong{"margin = 'x'", "3:10: 'margin' must be a number"}, Wrong{"batch = []", "batch: "},
        Wrong{"mode = []", "mode: "}, Wrong{"rounds = ", "3:"}));

TEST(ParsePlanTest, NoNetworkIsSaid) {
  const auto plan = ParsePlan("frameworks = 'x'", "a.toml");
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message(), HasSubstr("no network is named"));
}

TEST(PlanIdentityTest, EqualPlansHaveEqualTextAndOthersHaveNot) {
  Plan plan = Parsed(kLeast);
  const std::string text = ToJson(plan);
  EXPECT_EQ(ToJson(Parsed(std::string(kLeast) + "# a remark\nbatch = [64]")), text);
  plan.margin = 0.02;
  EXPECT_NE(ToJson(plan), text);
}

}  // namespace
}  // namespace dlbench::experiment
