#include <gmock/gmock.h>

#include <algorithm>

#include "answering.h"

namespace dlbench::verify {
namespace {

using testing::HasSubstr;

class MistrustTest : public AnsweringTest {
 protected:
  GateResult Honest(const Problem& problem) {
    const auto gate = GateOf(problem);
    return JudgementOf(problem, *gate, {});
  }
};

TEST_F(MistrustTest, AnOrdinaryNetworkIsTrusted) {
  EXPECT_EQ(Honest(MakeProblem(SmallNet(), 16)).status, GateStatus::kEqual);
}

TEST_F(MistrustTest, AGradientThatIsZeroProvesNothing) {
  Problem problem = MakeProblem(SmallNet(), 16);
  // Nothing comes back through a last layer of zeros.
  std::fill(problem.weights.at("fc3.weight").begin(), problem.weights.at("fc3.weight").end(), 0.0F);
  const GateResult result = Honest(problem);
  EXPECT_EQ(result.status, GateStatus::kMistrusted);
  EXPECT_THAT(result.reason, HasSubstr("the gradient of 'fc1.weight' is zero"));
}

TEST_F(MistrustTest, SaturatedOutputsProveNothing) {
  const GateResult result = Honest(MakeProblem(SmallNet(), 16, 500.0));
  EXPECT_EQ(result.status, GateStatus::kMistrusted) << result.reason;
  EXPECT_THAT(result.reason, HasSubstr("the check could not have failed"));
}

TEST_F(MistrustTest, DeadRectifiersProveNothing) {
  network::Network network = SmallNet();
  network.nodes[3].op = "relu";
  Problem problem = MakeProblem(network, 16);
  std::fill(problem.weights.at("fc2.bias").begin(), problem.weights.at("fc2.bias").end(), -100.0F);
  const GateResult result = Honest(problem);
  EXPECT_EQ(result.status, GateStatus::kMistrusted);
}

TEST_F(MistrustTest, AFaultIsAFaultEvenWhereTheGateIsNotTrusted) {
  Problem problem = MakeProblem(SmallNet(), 16);
  std::fill(problem.weights.at("fc3.weight").begin(), problem.weights.at("fc3.weight").end(), 0.0F);
  const auto gate = GateOf(problem);
  Wrong wrong;
  wrong.losses = [](std::vector<double>& losses) { losses[0] *= 1.01; };
  EXPECT_EQ(JudgementOf(problem, *gate, wrong).status, GateStatus::kUnequal);
}

}  // namespace
}  // namespace dlbench::verify
