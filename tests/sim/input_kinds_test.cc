#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign_fixture.h"

namespace dlbench::experiment {
namespace {

using testing::SizeIs;

// C09: a step that takes its batch from the device and one that copies (and converts) it first are
// two kinds of result: each says which it is, and neither is ever ranked against the other.
TEST_F(CampaignTest, C09ResidentAndFedInputsAreNeverCompared) {
  plan_.inputs = {"resident", "fed"};
  launcher_.edit_hello = [](const std::string&, worker::Hello& hello) {
    hello.inputs = {"resident", "fed"};
  };
  const auto slower_when_fed = [](const LaunchRequest& request, int) {
    Turn turn;
    turn.step_seconds = request.arm->input == "fed" ? 0.003 : 0.001;
    return turn;
  };
  launcher_.scripts["alpha"] = slower_when_fed;
  launcher_.scripts["beta"] = slower_when_fed;
  ASSERT_NE(Run(), 0) << error_;

  const auto report = Report();
  ASSERT_THAT(report.results, SizeIs(4));
  EXPECT_THAT(report.comparisons, SizeIs(2)) << "one a kind of input";
  for (const auto& comparison : report.comparisons) {
    EXPECT_EQ(report.results[comparison.a_index].input, report.results[comparison.b_index].input);
  }
  for (const auto& row : report.results) {
    EXPECT_NEAR(row.step_time->estimate, row.input == "fed" ? 0.003 : 0.001, 1e-9);
    EXPECT_THAT(report::Render(report, report::Format::kTable),
                testing::HasSubstr("input " + row.input));
  }
}

}  // namespace
}  // namespace dlbench::experiment
