#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../reference/small_network.h"
#include "answering.h"
#include "verify/compare.h"

namespace dlbench::verify {
namespace {

using testing::HasSubstr;

class C08 : public AnsweringTest {};

TEST_F(C08, ALossThatIsTheSameAtEachStepAlthoughTheBatchChangesFails) {
  const Problem problem = MakeProblem(SmallNet(), 16);
  const auto gate = GateOf(problem);
  Wrong folded;
  folded.losses = [](std::vector<double>& losses) {
    std::fill(losses.begin(), losses.end(), losses.front());
  };
  const GateResult result = JudgementOf(problem, *gate, folded);
  EXPECT_EQ(result.status, GateStatus::kUnequal);
  EXPECT_THAT(result.reason, HasSubstr("the loss of step 2"));
  EXPECT_EQ(result.diagnosis, "the loss does not change");
}

TEST_F(C08, EveryComparedStepUsesAnotherBatch) {
  const Problem problem = MakeProblem(SmallNet(), 16);
  const auto gate = GateOf(problem);
  const auto& batches = gate->sequence().batches;
  for (std::size_t i = 1; i < batches.size(); ++i) EXPECT_NE(batches[i], batches[i - 1]);
}

TEST_F(C08, LossesOfALongRunMustMove) {
  const Problem problem = MakeProblem(SmallNet(), 16);
  const auto gate = GateOf(problem);
  std::vector<std::pair<std::int64_t, double>> losses;
  for (std::int64_t step = 11; step <= 60; ++step) losses.emplace_back(step, 2.3);
  const auto still = gate->CheckRunLosses(losses);
  EXPECT_FALSE(std::all_of(still.begin(), still.end(), [](const Check& c) { return c.passed; }));
  losses.back().second = 2.2;
  const auto moving = gate->CheckRunLosses(losses);
  EXPECT_TRUE(std::all_of(moving.begin(), moving.end(), [](const Check& c) { return c.passed; }));
}

TEST_F(C08, ATrainingRunWhoseParametersDoNotMoveFails) {
  const Problem problem = MakeProblem(SmallNet(), 16);
  const auto gate = GateOf(problem);
  Wrong frozen;
  frozen.rule.rate_factor = 0.0;
  const GateResult result = JudgementOf(problem, *gate, frozen);
  EXPECT_EQ(result.status, GateStatus::kUnequal);
  EXPECT_EQ(result.diagnosis, "the weights do not move");
}

/// A sample of `channels` x `rows` x `columns` from channels first to channels last.
template <class T>
std::vector<T> ToChannelsLast(const std::vector<T>& chw, std::size_t channels, std::size_t area) {
  std::vector<T> hwc;
  for (std::size_t at = 0; at < area; ++at) {
    for (std::size_t c = 0; c < channels; ++c) hwc.push_back(chw[c * area + at]);
  }
  return hwc;
}

class C35 : public AnsweringTest {
 protected:
  /// A framework that flattens 12 inputs, channels of `area` each, with the channels last.
  GateResult Flattened(std::size_t channels) {
    const Problem problem = MakeProblem(SmallNet(), 16);
    const auto gate = GateOf(problem);
    Wrong wrong;
    wrong.inputs = [channels](std::vector<float>& x) {
      for (auto at = x.begin(); at != x.end(); at += 12) {
        const std::vector<float> sample(at, at + 12);
        const auto moved = ToChannelsLast(sample, channels, 12 / channels);
        std::copy(moved.begin(), moved.end(), at);
      }
    };
    return JudgementOf(problem, *gate, wrong);
  }
};

TEST_F(C35, TheTwoOrdersGiveTheSumsThatTheCaseNames) {
  std::vector<int> chw(8);
  std::iota(chw.begin(), chw.end(), 0);
  const std::vector<int> hwc = ToChannelsLast(chw, 2, 4);
  EXPECT_EQ(hwc, (std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7}));
  std::vector<int> weights(8);
  std::iota(weights.begin(), weights.end(), 1);
  EXPECT_EQ(std::inner_product(chw.begin(), chw.end(), weights.begin(), 0), 168);
  EXPECT_EQ(std::inner_product(hwc.begin(), hwc.end(), weights.begin(), 0), 154);
}

TEST_F(C35, TwoChannelsOfAMapThatIsNotSquareFlattenedChannelsLastAreCaught) {
  const GateResult result = Flattened(2);  // 2 x 2 x 3
  EXPECT_EQ(result.status, GateStatus::kUnequal);
  EXPECT_THAT(result.reason, HasSubstr("the logits differ"));
}

TEST_F(C35, OneChannelCannotShowTheFault) { EXPECT_EQ(Flattened(1).status, GateStatus::kEqual); }

/// A network whose softmax is near 0.001 everywhere.
network::Network Wide() {
  network::Network network;
  network.name = "wide";
  network.input.shape = {12};
  network.classes = 1000;
  reference::AddDense(network, "fc1", "input", 12, 16);
  reference::AddActivation(network, "act1", "tanh", "fc1", 16);
  reference::AddDense(network, "fc2", "act1", 16, 1000);
  network.loss.input = "fc2";
  network.optimizer.learning_rate = 0.05;
  return network;
}

class C37 : public AnsweringTest {
 protected:
  GateResult WithLogits(std::function<void(std::vector<double>&)> change) {
    Wrong wrong;
    wrong.logits = std::move(change);
    return JudgementOf(problem_, *gate_, wrong);
  }

  // Small weights: all logits are near 0, so that an absolute tolerance of 1e-2 would pass them.
  Problem problem_ = MakeProblem(Wide(), 8, 0.01);
  std::unique_ptr<Gate> gate_ = GateOf(problem_);
};

TEST_F(C37, ZerosFailAlthoughEveryTrueValueIsSmall) {
  double largest = 0.0;
  const GateResult zeros = WithLogits([&](std::vector<double>& logits) {
    for (double& value : logits) {
      largest = std::max(largest, std::abs(value));
      value = 0.0;
    }
  });
  EXPECT_LT(largest, 0.05);
  EXPECT_EQ(zeros.status, GateStatus::kUnequal);
  EXPECT_EQ(zeros.diagnosis, "the logits are all zero");
  EXPECT_NEAR(zeros.checks.front().error.norm_relative, 1.0, 1e-12) << "relative to the reference";
}

TEST_F(C37, TheMeanEverywhereFails) {
  const GateResult result = WithLogits([](std::vector<double>& logits) {
    const double sum = std::accumulate(logits.begin(), logits.end(), 0.0);
    std::fill(logits.begin(), logits.end(), sum / static_cast<double>(logits.size()));
  });
  EXPECT_EQ(result.status, GateStatus::kUnequal);
  EXPECT_FALSE(result.checks.front().passed);
}

TEST_F(C37, TheOutputOfTheStepBeforeFails) {
  Wrong stale;
  const auto other = BatchInputs(problem_.pool, 3);
  stale.inputs = [&](std::vector<float>& x) { x.assign(other.begin(), other.end()); };
  const GateResult result = JudgementOf(problem_, *gate_, stale);
  EXPECT_EQ(result.status, GateStatus::kUnequal);
  EXPECT_FALSE(result.checks.front().passed) << "the logits";
  EXPECT_EQ(JudgementOf(problem_, *gate_, {}).checks.front().passed, true);
}

class C38 : public AnsweringTest {
 protected:
  Problem problem_ = MakeProblem(SmallNet(), 64);
  std::unique_ptr<Gate> gate_ = GateOf(problem_);
};

TEST_F(C38, UniformNoiseInTheRangeOfTheReferenceFailsWithItsCorrelationReported) {
  Wrong noise;
  noise.logits = [](std::vector<double>& logits) {
    const auto [least, most] = std::minmax_element(logits.begin(), logits.end());
    const double low = *least;
    const double width = *most - *least;
    const std::vector<float> random = reference::Uniform("noise", logits.size(), 0.5);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      logits[i] = low + width * (0.5 + static_cast<double>(random[i]));
    }
  };
  const Check logits = JudgementOf(problem_, *gate_, noise).checks.front();
  EXPECT_FALSE(logits.passed);
  EXPECT_GT(logits.error.norm_relative, 0.1);
  EXPECT_GT(logits.error.worst_over_rms, 0.1);
  EXPECT_GT(logits.error.cosine_distance, 0.1);
}

TEST_F(C38, AnErrorOfAThousandthFailsInFloat32) {
  Wrong wrong;
  wrong.logits = [](std::vector<double>& logits) {
    for (double& value : logits) value *= 1.001;
  };
  const Check logits = JudgementOf(problem_, *gate_, wrong).checks.front();
  EXPECT_FALSE(logits.passed);
  EXPECT_NEAR(logits.error.norm_relative, 1e-3, 1e-6);
}

TEST_F(C38, TheLimitLiesBetweenFloat32AndTf32AndIsReported) {
  Wrong tf32;
  tf32.arithmetic.precision = reference::Precision::kTF32Operands;
  const Check honest = JudgementOf(problem_, *gate_, {}).checks.front();
  const Check lowered = JudgementOf(problem_, *gate_, tf32).checks.front();
  EXPECT_TRUE(honest.passed);
  EXPECT_FALSE(lowered.passed);
  EXPECT_LT(honest.error.norm_relative, 0.5 * honest.norm_limit);
  EXPECT_GT(lowered.error.norm_relative, 5.0 * honest.norm_limit);
  EXPECT_GT(honest.norm_limit, 5e-8);
  EXPECT_LT(honest.norm_limit, 5e-5);
}

class C39 : public AnsweringTest {};

TEST_F(C39, SumsThatAreSplitOtherwiseDifferInTheLastDigitsAndPass) {
  // Two threads sum the halves of a batch apart; the summation orders do the same here.
  const Problem problem = MakeProblem(SmallNet(), 64);
  const auto gate = GateOf(problem);
  std::vector<Tensors> seen;
  for (const int order : {0, 1}) {
    Wrong honest;
    honest.arithmetic.summation_order = order;
    honest.gradients = [&, first = true](Tensors& gradients) mutable {
      if (first) seen.push_back(gradients);
      first = false;
    };
    const GateResult result = JudgementOf(problem, *gate, honest);
    EXPECT_EQ(result.status, GateStatus::kEqual) << result.reason;
  }
  ASSERT_EQ(seen.size(), 2U);
  const double difference =
      Compare(std::span<const double>(seen[0].at("fc1.weight")), seen[1].at("fc1.weight"))
          .norm_relative;
  EXPECT_GT(difference, 0.0);
  EXPECT_LT(difference, 1e-5);
}

}  // namespace
}  // namespace dlbench::verify
