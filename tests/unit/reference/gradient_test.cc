#include <gtest/gtest.h>

#include <cmath>

#include "small_network.h"

namespace dlbench::reference {
namespace {

constexpr std::int64_t kBatch = 5;

struct Case {
  const char* name;
  network::Network network;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* op : {"sigmoid", "tanh", "relu"}) {
    cases.push_back({op, SmallNetwork(op, 4, 6, 3)});
  }
  network::Network sum = SmallNetwork("tanh", 4, 6, 3);
  sum.loss.reduction = "sum";
  cases.push_back({"sum", sum});

  network::Network no_bias;
  no_bias.input.shape = {4};
  no_bias.classes = 3;
  AddDense(no_bias, "fc", "input", 4, 3, false);
  no_bias.loss.input = "fc";
  cases.push_back({"no_bias", no_bias});

  // An activation of the data themselves, and one output that two paths lead through.
  network::Network deep;
  deep.input.shape = {4};
  deep.classes = 3;
  AddActivation(deep, "first", "tanh", "input", 4);
  AddDense(deep, "fc1", "first", 4, 5);
  AddActivation(deep, "a", "sigmoid", "fc1", 5);
  AddActivation(deep, "b", "tanh", "a", 5);
  AddDense(deep, "fc2", "b", 5, 3);
  deep.loss.input = "fc2";
  cases.push_back({"deep", deep});
  return cases;
}

double LossAt(Engine& engine, const State& state, const std::vector<float>& x,
              const std::vector<std::int32_t>& labels) {
  engine.SetState(state);
  return engine.Forward(x, labels).loss;
}

// Central difference (L(w + h) - L(w - h)) / 2h. Its error is of order h^2 times the third
// derivative plus rounding 1e-16 / h: about 1e-10 for h = 1e-5.
TEST(Gradients, AgreeWithCentralDifferencesForEveryLayerAndParameter) {
  constexpr double kStep = 1e-5;
  for (const Case& test : Cases()) {
    SCOPED_TRACE(test.name);
    const auto x = Uniform("x", 4 * kBatch, 1.0);
    const auto labels = RoundLabels(kBatch, 3);
    auto engine = Engine::Create(test.network, kBatch, {});
    ASSERT_TRUE(engine.ok()) << engine.error().message();
    const State state = SmallState(test.network, 0.7);
    (*engine)->SetState(state);
    const StepResult step = (*engine)->Step(x, labels, 0.1);
    ASSERT_EQ(step.gradients.size(), test.network.Parameters().size());
    for (const auto& [name, gradient] : step.gradients) {
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        State moved = state;
        moved.weights[name][i] += kStep;
        const double above = LossAt(**engine, moved, x, labels);
        moved.weights[name][i] -= 2 * kStep;
        const double below = LossAt(**engine, moved, x, labels);
        EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-9) << name << "[" << i << "]";
      }
    }
  }
}

TEST(Gradients, OfAnUnusedBranchAreZero) {
  network::Network network = SmallNetwork("tanh", 4, 6, 3);
  AddDense(network, "unused", "act", 6, 2);
  auto engine = Engine::Create(network, kBatch, {});
  ASSERT_TRUE(engine.ok()) << engine.error().message();
  (*engine)->SetState(SmallState(network, 0.7));
  const auto step = (*engine)->Step(Uniform("x", 4 * kBatch, 1.0), RoundLabels(kBatch, 3), 0.1);
  for (const double value : step.gradients.at("unused.weight")) EXPECT_EQ(value, 0.0);
  for (const double value : step.gradients.at("unused.bias")) EXPECT_EQ(value, 0.0);
}

TEST(Gradients, OfASumAreTheMeansTimesTheBatch) {
  network::Network network = SmallNetwork("sigmoid", 4, 6, 3);
  const auto x = Uniform("x", 4 * kBatch, 1.0);
  const auto labels = RoundLabels(kBatch, 3);
  std::vector<StepResult> results;
  for (const char* reduction : {"mean", "sum"}) {
    network.loss.reduction = reduction;
    auto engine = Engine::Create(network, kBatch, {});
    ASSERT_TRUE(engine.ok());
    (*engine)->SetState(SmallState(network, 0.7));
    results.push_back((*engine)->Step(x, labels, 0.1));
  }
  EXPECT_NEAR(results[1].loss, results[0].loss * kBatch, 1e-13);
  const auto& mean = results[0].gradients.at("fc1.weight");
  const auto& sum = results[1].gradients.at("fc1.weight");
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(sum[i], mean[i] * kBatch, 1e-13);
}

}  // namespace
}  // namespace dlbench::reference
