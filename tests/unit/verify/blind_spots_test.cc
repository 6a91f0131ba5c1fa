#include <gmock/gmock.h>

#include <algorithm>

#include "answering.h"

namespace dlbench::verify {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class BlindSpotsTest : public AnsweringTest {
 protected:
  std::vector<std::string> BlindSpotsOf(const Problem& problem) {
    const auto gate = GateOf(problem);
    return JudgementOf(problem, *gate, {}).blind_spots;
  }
};

TEST_F(BlindSpotsTest, AGoodNetworkHasNone) {
  EXPECT_THAT(BlindSpotsOf(MakeProblem(SmallNet(), 16)), IsEmpty());
}

TEST_F(BlindSpotsTest, ABiasOfZeroCannotBeMissed) {
  Problem problem = MakeProblem(SmallNet(), 16);
  std::fill(problem.weights.at("fc2.bias").begin(), problem.weights.at("fc2.bias").end(), 0.0F);
  const auto blind = BlindSpotsOf(problem);
  EXPECT_THAT(blind, Contains("the bias 'fc2.bias' is missing"));
  EXPECT_THAT(blind, Not(Contains("the bias 'fc1.bias' is missing")));
}

TEST_F(BlindSpotsTest, ASymmetricWeightCannotBeSeenTransposed) {
  Problem problem = MakeProblem(SmallNet(), 16);
  std::vector<float>& square = problem.weights.at("fc2.weight");
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < i; ++j) square[16 * i + j] = square[16 * j + i];
  }
  // The gradient would be the transposed one as well, and is not: only the pass is blind to it.
  const auto gate = GateOf(problem);
  Wrong wrong;
  EXPECT_THAT(JudgementOf(problem, *gate, wrong).blind_spots,
              Contains("the weight 'fc2.weight' is transposed"));
}

TEST_F(BlindSpotsTest, ABatchOfOneHidesWhetherTheLossIsSummedOrAveraged) {
  EXPECT_THAT(BlindSpotsOf(MakeProblem(SmallNet(), 1)),
              Contains("the loss is summed over the batch, not averaged"));
}

TEST_F(BlindSpotsTest, WithoutAChangeOfRateTwoMomentumConventionsAreTheSame) {
  const Problem problem = MakeProblem(SmallNet(), 16);
  GateCase constant = problem.Case();
  constant.rate_changes = false;
  const auto gate = Gate::Create(constant);
  ASSERT_TRUE(gate.ok());
  const auto blind = (*gate)->Judge({}, nullptr, nullptr).blind_spots;
  EXPECT_THAT(blind, Contains("the momentum accumulates learning rate times gradient"));
  EXPECT_THAT(blind, Contains("changes of the learning rate are ignored"));
}

}  // namespace
}  // namespace dlbench::verify
