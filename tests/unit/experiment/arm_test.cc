#include "experiment/arm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dlbench::experiment {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

FrameworkChoice Choice(const std::string& name, std::vector<std::string> presets) {
  FrameworkChoice choice;
  choice.installation.id = choice.installation.name = name;
  choice.presets = std::move(presets);
  return choice;
}

Plan TinyPlan() {
  Plan plan;
  plan.networks = {"tiny"};
  plan.threads = {1};
  return plan;
}

TEST(MakeArmsTest, ListsOnEveryAxisMakeTheirProduct) {
  Plan plan = TinyPlan();
  plan.networks = {"a", "b"};
  plan.batches = {1, 2, 3};
  plan.threads = {1, 2};
  plan.modes = {"train", "infer"};
  plan.devices = {"cpu", "cuda:0"};
  plan.precisions = {"float32", "bfloat16"};
  plan.inputs = {"resident", "fed"};
  const auto arms =
      MakeArms(plan, {Choice("x", {"default", "recommended"}), Choice("y", {"default"})});
  ASSERT_TRUE(arms.ok());
  constexpr std::size_t kGroups = 2 * 3 * 2 * 2 * 2 * 2 * 2;
  EXPECT_THAT(*arms, SizeIs(kGroups * 3));
  std::set<std::size_t> groups, cases;
  for (const Arm& arm : *arms) {
    groups.insert(arm.group_index);
    cases.insert(arm.case_index);
  }
  EXPECT_THAT(groups, SizeIs(kGroups));
  EXPECT_THAT(cases, SizeIs(2 * 3)) << "a network at a batch size";
  EXPECT_EQ(*cases.rbegin(), 5U);
}

TEST(MakeArmsTest, AQuickLookTakesOnePresetOfEachFramework) {
  Plan plan = TinyPlan();
  MakeQuick(plan);
  const auto arms =
      MakeArms(plan, {Choice("x", {"default", "recommended"}), Choice("y", {"plain", "other"})});
  ASSERT_THAT(*arms, SizeIs(2));
  EXPECT_EQ((*arms)[0].preset, "recommended");
  EXPECT_EQ((*arms)[1].preset, "plain");
}

TEST(MakeArmsTest, NamedPresetsGoToThoseThatHaveThem) {
  Plan plan = TinyPlan();
  plan.presets = {"recommended"};
  const auto arms =
      MakeArms(plan, {Choice("x", {"default", "recommended"}), Choice("y", {"default"})});
  ASSERT_THAT(*arms, SizeIs(1));
  EXPECT_EQ((*arms)[0].installation.name, "x");
}

TEST(MakeArmsTest, APresetThatNobodyHasIsRefusedWithTheNearest) {
  Plan plan = TinyPlan();
  plan.presets = {"recomended"};
  const auto arms = MakeArms(plan, {Choice("x", {"default", "recommended"})});
  ASSERT_FALSE(arms.ok());
  EXPECT_THAT(arms.error().message(), HasSubstr("did you mean 'recommended'?"));
}

}  // namespace
}  // namespace dlbench::experiment
