#include "reference/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "small_network.h"

namespace dlbench::reference {
namespace {

using testing::HasSubstr;

// A network whose logits are its input: dense with the identity.
network::Network Identity(std::int64_t classes) {
  network::Network network;
  network.name = "identity";
  network.input.shape = {classes};
  network.classes = classes;
  AddDense(network, "fc", "input", classes, classes, false);
  network.loss.input = "fc";
  return network;
}

State IdentityState(std::size_t classes) {
  State state;
  state.weights["fc.weight"].assign(classes * classes, 0.0);
  for (std::size_t i = 0; i < classes; ++i) state.weights["fc.weight"][i * classes + i] = 1.0;
  return state;
}

std::unique_ptr<Engine> MakeEngine(const network::Network& network, std::int64_t batch,
                                   Arithmetic arithmetic = {}) {
  auto engine = Engine::Create(network, batch, arithmetic);
  EXPECT_TRUE(engine.ok()) << engine.error().message();
  return std::move(engine).value();
}

std::string ErrorOf(const network::Network& network, std::int64_t batch = 2) {
  const auto engine = Engine::Create(network, batch, {});
  return engine.ok() ? "" : engine.error().message();
}

TEST(C30, SoftmaxIsAppliedOnce) {
  const auto engine = MakeEngine(Identity(3), 1);
  engine->SetState(IdentityState(3));
  const std::vector<float> logits = {2.0F, 1.0F, 0.0F};
  const std::vector<std::int32_t> label = {0};
  const StepResult result = engine->Forward(logits, label);
  EXPECT_NEAR(result.loss, 0.407606, 5e-7);  // twice: 0.797190
  EXPECT_EQ(result.logits, (std::vector<double>{2.0, 1.0, 0.0}));
}

TEST(Engine, HugeLogitsDoNotOverflow) {
  const auto engine = MakeEngine(Identity(3), 1, {Precision::kFloat32, 0});
  engine->SetState(IdentityState(3));
  const std::vector<std::int32_t> label = {1};
  const StepResult result = engine->Step(std::vector<float>{3e4F, -3e4F, 0.0F}, label, 0.1);
  EXPECT_EQ(result.loss, 6e4);
  for (const double value : result.gradients.at("fc.weight")) EXPECT_TRUE(std::isfinite(value));
}

TEST(Engine, MeanLossIsUnchangedByTheOrderOfTheBatch) {
  const auto network = SmallNetwork("tanh", 3, 5, 4);
  const auto engine = MakeEngine(network, 8);
  engine->SetState(SmallState(network, 1.0));
  auto x = Uniform("x", 24, 1.0);
  auto labels = RoundLabels(8, 4);
  const double loss = engine->Forward(x, labels).loss;
  std::rotate(x.begin(), x.begin() + 9, x.end());
  std::rotate(labels.begin(), labels.begin() + 3, labels.end());
  EXPECT_NEAR(engine->Forward(x, labels).loss, loss, 1e-15);
  std::rotate(labels.begin(), labels.begin() + 1, labels.end());
  EXPECT_GT(std::abs(engine->Forward(x, labels).loss - loss), 1e-3);
}

TEST(Engine, StepAppliesTheGradientItReports) {
  auto network = SmallNetwork("sigmoid", 3, 5, 4);
  network.optimizer.momentum = 0.9;
  network.optimizer.weight_decay = 0.01;
  const auto engine = MakeEngine(network, 8);
  State state = SmallState(network, 1.0);
  state.velocity["fc1.weight"].assign(15, 0.5);
  engine->SetState(state);
  const auto result = engine->Step(Uniform("x", 24, 1.0), RoundLabels(8, 4), 0.25);
  const State after = engine->GetState();
  for (std::size_t i = 0; i < 15; ++i) {
    const double w = state.weights["fc1.weight"][i];
    const double v = 0.9 * 0.5 + (result.gradients.at("fc1.weight")[i] + 0.01 * w);
    EXPECT_NEAR(after.velocity.at("fc1.weight")[i], v, 1e-15);
    EXPECT_NEAR(after.weights.at("fc1.weight")[i], w - 0.25 * v, 1e-15);
  }
  // The bias of this network does not decay.
  const double b = state.weights["fc1.bias"][0];
  EXPECT_NEAR(after.weights.at("fc1.bias")[0], b - 0.25 * result.gradients.at("fc1.bias")[0],
              1e-15);
}

TEST(Engine, ForwardLeavesTheStateAlone) {
  const auto network = SmallNetwork("relu", 3, 5, 4);
  const auto engine = MakeEngine(network, 8);
  const State state = SmallState(network, 1.0);
  engine->SetState(state);
  const auto result = engine->Forward(Uniform("x", 24, 1.0), RoundLabels(8, 4));
  EXPECT_TRUE(result.gradients.empty());
  EXPECT_EQ(engine->GetState().weights, state.weights);
  EXPECT_EQ(engine->GetState().velocity, state.velocity);
}

TEST(Engine, MissingVelocitiesBecomeZero) {
  const auto network = SmallNetwork("relu", 3, 5, 4);
  const auto engine = MakeEngine(network, 8);
  const State state = SmallState(network, 1.0);
  engine->SetState(state);
  (void)engine->Step(Uniform("x", 24, 1.0), RoundLabels(8, 4), 0.1);
  State without = state;
  without.velocity.clear();
  engine->SetState(without);
  EXPECT_EQ(engine->GetState().velocity, state.velocity);
}

TEST(Engine, SameInputGivesTheSameBits) {
  const auto network = SmallNetwork("tanh", 30, 50, 10);
  const auto x = Uniform("x", 64 * 30, 1.0);
  const auto labels = RoundLabels(64, 10);
  for (const Precision precision : {Precision::kFloat64, Precision::kFloat32}) {
    std::vector<State> states;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto engine = MakeEngine(network, 64, {precision, 3});
      engine->SetState(SmallState(network, 1.0));
      for (int step = 0; step < 3; ++step) (void)engine->Step(x, labels, 0.1);
      states.push_back(engine->GetState());
    }
    EXPECT_EQ(states[0].weights, states[1].weights);
  }
}

TEST(Engine, KeepsActivationsOnRequest) {
  const auto network = SmallNetwork("relu", 3, 5, 4);
  const auto engine = MakeEngine(network, 2);
  engine->SetState(SmallState(network, 1.0));
  const auto x = Uniform("x", 6, 1.0);
  const auto labels = RoundLabels(2, 4);
  EXPECT_TRUE(engine->Forward(x, labels).activations.empty());
  const auto result = engine->Forward(x, labels, true);
  ASSERT_EQ(result.activations.size(), 3U);
  EXPECT_EQ(result.activations.at("fc2"), result.logits);
  const auto& before = result.activations.at("fc1");
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(result.activations.at("act")[i], std::max(before[i], 0.0));
  }
}

TEST(Engine, NamesWhatItLacks) {
  auto network = SmallNetwork("gelu", 3, 5, 4);
  EXPECT_THAT(ErrorOf(network), HasSubstr("node 'act': the reference has no op 'gelu'"));
  EXPECT_EQ(Engine::Create(network, 2, {}).error().code(), ErrorCode::kUnsupported);
  network = SmallNetwork("relu", 3, 5, 4);
  network.optimizer.kind = "adam";
  EXPECT_THAT(ErrorOf(network), HasSubstr("no optimizer 'adam'"));
  network = SmallNetwork("relu", 3, 5, 4);
  network.loss.reduction = "none";
  EXPECT_THAT(ErrorOf(network), HasSubstr("reduction 'none'"));
  network = SmallNetwork("relu", 3, 5, 4);
  network.nodes[1].inputs.push_back("fc1");
  EXPECT_THAT(ErrorOf(network), HasSubstr("2 inputs"));
}

TEST(Engine, RefusesShapesThatDoNotFit) {
  auto network = SmallNetwork("relu", 3, 5, 4);
  network.nodes[0].parameters[0].shape = {5, 4};
  EXPECT_THAT(ErrorOf(network), HasSubstr("needs parameters of the shapes [5, 3], [5]"));
  network = SmallNetwork("relu", 3, 5, 4);
  network.nodes[1].output_shape = {6};
  EXPECT_THAT(ErrorOf(network), HasSubstr("node 'act'"));
  network = SmallNetwork("relu", 3, 5, 4);
  network.classes = 5;
  EXPECT_THAT(ErrorOf(network), HasSubstr("5 classes"));
  network = SmallNetwork("relu", 3, 5, 4);
  network.loss.input = "input";
  EXPECT_THAT(ErrorOf(network), HasSubstr("no node"));
  network = SmallNetwork("relu", 3, 5, 4);
  network.nodes[0].inputs = {"fc2"};
  EXPECT_THAT(ErrorOf(network), HasSubstr("no earlier node"));
  EXPECT_THAT(ErrorOf(SmallNetwork("relu", 3, 5, 4), 0), HasSubstr("at least 1"));
}

TEST(Engine, WrongSizesAtRunTimeAreBugsOfTheCaller) {
  const auto network = SmallNetwork("relu", 3, 5, 4);
  const auto engine = MakeEngine(network, 2);
  EXPECT_THROW(engine->SetState({}), std::invalid_argument);
  State state = SmallState(network, 1.0);
  state.weights["fc1.bias"].pop_back();
  EXPECT_THROW(engine->SetState(state), std::invalid_argument);
  engine->SetState(SmallState(network, 1.0));
  EXPECT_THROW((void)engine->Forward(Uniform("x", 5, 1.0), RoundLabels(2, 4)),
               std::invalid_argument);
  EXPECT_THROW((void)engine->Forward(Uniform("x", 6, 1.0), std::vector<std::int32_t>{0, 4}),
               std::invalid_argument);
}

}  // namespace
}  // namespace dlbench::reference
