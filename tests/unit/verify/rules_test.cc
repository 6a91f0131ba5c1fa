#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <vector>

#include "answering.h"
#include "verify/compare.h"
#include "verify/situations.h"
#include "verify/update_rules.h"

namespace dlbench::verify {
namespace {

/// Weights after five steps of `rule` with the rate halved for the last two.
std::vector<double> Follow(const UpdateRule& rule, const network::Optimizer& optimizer,
                           bool decays) {
  const std::vector<std::vector<double>> gradients{
      {1.0, -0.5}, {0.3, 0.8}, {-0.7, 0.2}, {0.4, -0.9}, {0.6, 0.1}};
  std::vector<double> weights{0.5, -2.0};
  std::vector<double> velocity{0.0, 0.0};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const double rate = i < 3 ? 0.1 : 0.05;
    Advance(rule, optimizer, decays, i, rate, 0.1, 1.0,
            gradients[rule.stale_batch && i > 0 ? i - 1 : i], weights, velocity);
  }
  return weights;
}

TEST(UpdateRulesTest, TheRightRuleIsTheOneThatTheNetworkFileNames) {
  network::Optimizer optimizer;
  optimizer.momentum = 0.5;
  optimizer.weight_decay = 0.1;
  std::vector<double> weights{2.0};
  std::vector<double> velocity{0.0};
  const std::vector<double> gradient{1.0};
  Advance({}, optimizer, true, 0, 0.1, 0.1, 1.0, gradient, weights, velocity);
  EXPECT_DOUBLE_EQ(velocity[0], 1.2);  // 0.5 * 0 + (1 + 0.1 * 2)
  EXPECT_DOUBLE_EQ(weights[0], 1.88);
  Advance({}, optimizer, false, 1, 0.05, 0.1, 1.0, gradient, weights, velocity);
  EXPECT_DOUBLE_EQ(velocity[0], 1.6);  // 0.5 * 1.2 + 1, without decay
  EXPECT_DOUBLE_EQ(weights[0], 1.8);
}

TEST(UpdateRulesTest, EveryKnownFaultEndsElsewhereOnceTheRateHasChanged) {
  for (const double decay : {0.0, 0.01}) {
    network::Network network = SmallNet();
    network.optimizer.weight_decay = decay;
    const std::vector<UpdateRule> faults = KnownUpdateFaults(network);
    EXPECT_GE(faults.size(), 14U);
    for (const UpdateRule& fault : faults) {
      const bool decays = !fault.decays_everything;
      const auto right = Follow({}, network.optimizer, decays);
      const auto wrong = Follow(fault, network.optimizer, decays);
      EXPECT_GT(Compare(std::span<const double>(wrong), right).norm_relative, 1e-5) << fault.name;
    }
  }
}

TEST(UpdateRulesTest, OnlyFaultsThatDifferFromTheNetworksOwnRuleAreKnown) {
  network::Network plain = SmallNet();
  plain.optimizer.momentum = 0.0;
  plain.optimizer.weight_decay = 0.0;
  for (const UpdateRule& fault : KnownUpdateFaults(plain)) {
    EXPECT_THAT(fault.name, testing::Not(testing::HasSubstr("momentum")));
    EXPECT_NE(Follow(fault, plain.optimizer, true), Follow({}, plain.optimizer, true))
        << fault.name;
  }
}

TEST(UpdateRulesTest, ClippingScalesToTheGivenGlobalNorm) {
  UpdateRule clipped;
  clipped.clip_norm = 1.0;
  std::vector<double> weights{0.0};
  std::vector<double> velocity{0.0};
  const std::vector<double> gradient{3.0};
  Advance(clipped, {}, false, 0, 1.0, 1.0, 6.0, gradient, weights, velocity);
  EXPECT_DOUBLE_EQ(weights[0], -0.5) << "a norm of 6 is brought to 1";
}

TEST(LossFaultsTest, EachGivesItsOwnWrongLoss) {
  // Two samples, two classes: softmax (0.8, 0.2) and (0.5, 0.5).
  const std::vector<double> logits{std::log(4.0), 0.0, 0.0, 0.0};
  const std::vector<std::int32_t> labels{0, 1};
  const double right = (-std::log(0.8) - std::log(0.5)) / 2;
  std::map<std::string, double> losses;
  for (const LossFault& fault : KnownLossFaults()) {
    losses[fault.name] = fault.loss(logits, labels, 2, right);
    EXPECT_GT(std::abs(losses[fault.name] - right), 1e-3) << fault.name;
  }
  EXPECT_NEAR(losses.at("softmax_twice"), (std::log(1 + std::exp(0.2 - 0.8)) + std::log(2.0)) / 2,
              1e-12);
  EXPECT_NEAR(losses.at("loss_times_batch"), 2 * right, 1e-12);
  EXPECT_NEAR(losses.at("loss_base_two"), right / std::log(2.0), 1e-12);
}

}  // namespace
}  // namespace dlbench::verify
