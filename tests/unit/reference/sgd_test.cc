#include "reference/sgd.h"

#include <gtest/gtest.h>

#include <vector>

namespace dlbench::reference {
namespace {

// One weight, its gradients and rates step by step; the weight after each.
struct Probe {
  network::Optimizer optimizer;
  bool decays = true;
  double weight = 0.0;
  double velocity = 0.0;

  double Step(double gradient, double rate) {
    SgdUpdate<double>(optimizer, decays, rate, {&gradient, 1}, {&weight, 1}, {&velocity, 1});
    return weight;
  }
};

network::Optimizer Sgd(double momentum, double decay) {
  network::Optimizer optimizer;
  optimizer.momentum = momentum;
  optimizer.weight_decay = decay;
  return optimizer;
}

TEST(C31, LearningRateStandsOutsideTheVelocity) {
  Probe probe{Sgd(0.9, 0.0)};
  EXPECT_DOUBLE_EQ(probe.Step(1.0, 0.1), -0.1);
  EXPECT_NEAR(probe.Step(1.0, 0.01), -0.119, 1e-15);  // inside it would be -0.200
}

TEST(C32, DecayIsLambdaTimesWeightTimesRate) {
  Probe probe{Sgd(0.0, 0.01), true, 1.0};
  EXPECT_NEAR(probe.Step(0.0, 0.1), 0.999, 1e-15);  // 0.998: squared penalty; 0.990: without rate
}

TEST(C32, ParametersThatDoNotDecayStayAsTheyAre) {
  Probe bias{Sgd(0.0, 0.01), false, 1.0};
  EXPECT_EQ(bias.Step(0.0, 0.1), 1.0);
}

TEST(C40, DecayComesBeforeMomentum) {
  Probe probe{Sgd(0.9, 0.01), true, 1.0};
  EXPECT_NEAR(probe.Step(1.0, 0.1), 0.899, 1e-12);
  EXPECT_NEAR(probe.Step(0.0, 0.1), 0.807201, 1e-12);
  EXPECT_NEAR(probe.Step(-1.0, 0.1), 0.823775, 5e-7);  // decay last: 0.826293
}

// Worked by hand: d1 = 1, v1 = 1, w1 = -0.1 * (1 + 0.9 * 1) = -0.19;
// v2 = 0.9 * 1 + 1 = 1.9, w2 = -0.19 - 0.1 * (1 + 0.9 * 1.9) = -0.461.
TEST(Sgd, NesterovLooksAhead) {
  Probe probe{Sgd(0.9, 0.0)};
  probe.optimizer.nesterov = true;
  EXPECT_NEAR(probe.Step(1.0, 0.1), -0.19, 1e-15);
  EXPECT_NEAR(probe.Step(1.0, 0.1), -0.461, 1e-15);
  EXPECT_NEAR(probe.velocity, 1.9, 1e-15);
}

// With decay 0.5 and w = 2: d = 1 + 1 = 2, v = 2, w = 2 - 0.1 * (2 + 0.9 * 2) = 1.62.
TEST(Sgd, NesterovDecaysTheGradient) {
  Probe probe{Sgd(0.9, 0.5), true, 2.0};
  probe.optimizer.nesterov = true;
  EXPECT_NEAR(probe.Step(1.0, 0.1), 1.62, 1e-15);
}

TEST(Sgd, TreatsEveryElementAlike) {
  const std::size_t count = (1U << 18) + 3;  // more than one thread's piece
  std::vector<float> gradient(count, 1.0F);
  std::vector<float> weight(count, 1.0F);
  std::vector<float> velocity(count, 0.0F);
  SgdUpdate<float>(Sgd(0.9, 0.0), true, 0.5, gradient, weight, velocity);
  EXPECT_EQ(weight, std::vector<float>(count, 0.5F));
  EXPECT_EQ(velocity, gradient);
}

}  // namespace
}  // namespace dlbench::reference
