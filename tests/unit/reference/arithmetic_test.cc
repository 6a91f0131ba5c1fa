// What the arithmetics differ in: rounding, and nothing else.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "reference/rounding.h"
#include "reference/sum_order.h"
#include "reference/sums.h"
#include "small_network.h"

namespace dlbench::reference {
namespace {

constexpr std::int64_t kBatch = 48;
constexpr std::int64_t kInputs = 200;

struct Training {
  StepResult first;
  State after;  // three steps
};

Training Train(Arithmetic arithmetic) {
  auto network = SmallNetwork("tanh", kInputs, 70, 10);
  network.optimizer.momentum = 0.9;
  auto engine = Engine::Create(network, kBatch, arithmetic);
  EXPECT_TRUE(engine.ok());
  (*engine)->SetState(SmallState(network, 0.2));
  const auto x = Uniform("x", kBatch * kInputs, 1.0);
  const auto labels = RoundLabels(kBatch, 10);
  Training run;
  run.first = (*engine)->Step(x, labels, 0.1);
  for (int step = 1; step < 3; ++step) (void)(*engine)->Step(x, labels, 0.1);
  run.after = (*engine)->GetState();
  return run;
}

double NormError(const std::vector<double>& candidate, const std::vector<double>& reference) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    difference += std::pow(candidate[i] - reference[i], 2);
    norm += std::pow(reference[i], 2);
  }
  return std::sqrt(difference / norm);
}

TEST(Float32, DiffersFromFloat64ByItsRoundingInEveryOrder) {
  const Training exact = Train({Precision::kFloat64, 0});
  for (int order = 0; order <= 8; ++order) {
    const Training run = Train({Precision::kFloat32, order});
    const auto expect_rounding = [order](double error, const std::string& what) {
      EXPECT_GT(error, 1e-8) << what << ", order " << order;
      EXPECT_LT(error, 1e-5) << what << ", order " << order;
    };
    expect_rounding(NormError(run.first.logits, exact.first.logits), "logits");
    for (const auto& [name, gradient] : exact.first.gradients) {
      expect_rounding(NormError(run.first.gradients.at(name), gradient), name);
    }
    for (const auto& [name, weights] : exact.after.weights) {
      expect_rounding(NormError(run.after.weights.at(name), weights), name);
    }
  }
}

TEST(Float32, OrdersRoundDifferently) {
  std::set<std::vector<double>> logits;
  std::set<std::vector<double>> weight_gradients;
  std::set<std::vector<double>> bias_gradients;
  for (int order = 0; order <= 8; ++order) {
    const StepResult step = Train({Precision::kFloat32, order}).first;
    logits.insert(step.logits);
    weight_gradients.insert(step.gradients.at("fc1.weight"));
    bias_gradients.insert(step.gradients.at("fc2.bias"));
  }
  EXPECT_EQ(logits.size(), 9U);
  EXPECT_EQ(weight_gradients.size(), 9U);
  EXPECT_EQ(bias_gradients.size(), 9U);
}

TEST(Float32, IsWhatTheStateIsStoredIn) {
  for (const auto& [name, values] : Train({Precision::kFloat32, 0}).after.weights) {
    for (const double value : values)
      EXPECT_EQ(value, static_cast<double>(static_cast<float>(value)));
  }
  // 1 + 2^-30 needs float64: the float32 engine must have rounded it away.
  const auto network = SmallNetwork("relu", 3, 5, 4);
  State state = SmallState(network, 1.0);
  state.weights["fc1.bias"][0] = 1.0 + std::ldexp(1.0, -30);
  auto engine = Engine::Create(network, 1, {Precision::kFloat32, 0});
  (*engine)->SetState(state);
  EXPECT_EQ((*engine)->GetState().weights.at("fc1.bias")[0], 1.0);
}

TEST(Float64, OrdersDifferByItsOwnRoundingOnly) {
  const Training plain = Train({Precision::kFloat64, 0});
  const Training other = Train({Precision::kFloat64, 2});
  for (const auto& [name, weights] : plain.after.weights) {
    EXPECT_LT(NormError(other.after.weights.at(name), weights), 1e-14) << name;
    EXPECT_NE(other.after.weights.at(name), weights) << name;
  }
}

TEST(LowerPrecision, StandsFarAboveFloat32) {
  const Training exact = Train({Precision::kFloat64, 0});
  const double tf32 =
      NormError(Train({Precision::kTF32Operands, 0}).first.logits, exact.first.logits);
  const double bf16 =
      NormError(Train({Precision::kBFloat16Operands, 0}).first.logits, exact.first.logits);
  EXPECT_GT(tf32, 5e-5);  // unit roundoff 2^-11
  EXPECT_LT(tf32, 2e-3);
  EXPECT_GT(bf16, 4e-4);  // unit roundoff 2^-8
  EXPECT_LT(bf16, 2e-2);
}

TEST(RoundOperand, RoundsToNearestTiesToEven) {
  // bfloat16 keeps 7 bits behind the point: steps of 2^-7 from 1.
  const float step = 1.0F / 128;
  EXPECT_EQ(RoundOperand(1.0F, 16), 1.0F);
  EXPECT_EQ(RoundOperand(1.0F + 0.5F * step, 16), 1.0F);             // tie: down to even
  EXPECT_EQ(RoundOperand(1.0F + 1.5F * step, 16), 1.0F + 2 * step);  // tie: up to even
  EXPECT_EQ(RoundOperand(1.0F + 0.51F * step, 16), 1.0F + step);
  EXPECT_EQ(RoundOperand(-1.0F - 1.5F * step, 16), -1.0F - 2 * step);
  // TF32 keeps 10 bits.
  EXPECT_EQ(RoundOperand(1.0F + 1.0F / 2048, 13), 1.0F);
  EXPECT_EQ(RoundOperand(1.0F + 3.0F / 2048, 13), 1.0F + 2.0F / 1024);
}

TEST(RoundOperand, KeepsWhatIsNotANumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(RoundOperand(std::numeric_limits<float>::quiet_NaN(), 16)));
  EXPECT_EQ(RoundOperand(-infinity, 16), -infinity);
  EXPECT_EQ(RoundOperand(std::numeric_limits<float>::max(), 16), infinity);
  EXPECT_EQ(RoundOperand(0.0F, 16), 0.0F);
}

TEST(SumOrders, ArePermutationsCutIntoBlocks) {
  for (int order = 1; order <= 20; ++order) {
    SumOrders orders(order);
    const SumOrder& sum = orders.For(100);
    EXPECT_GE(sum.block, 1);
    const std::set<std::int64_t> terms(sum.permutation.begin(), sum.permutation.end());
    EXPECT_EQ(sum.permutation.size(), 100U);
    EXPECT_EQ(terms.size(), 100U);
    EXPECT_EQ(*terms.begin(), 0);
    EXPECT_EQ(*terms.rbegin(), 99);
  }
  SumOrders first(1);
  SumOrders ninth(9);
  EXPECT_NE(first.For(100).permutation, ninth.For(100).permutation);
}

TEST(Sums, AddTheSameTermsInEveryOrder) {
  // Whole numbers: every order must give exactly the same.
  Matrix<float> rows(37, 3);
  for (std::size_t i = 0; i < rows.values.size(); ++i) rows.values[i] = static_cast<float>(i);
  for (int order = 0; order <= 9; ++order) {
    Sums<float> sums({Precision::kFloat32, order});
    std::vector<float> columns(3);
    sums.AddRows(rows, columns);
    EXPECT_EQ(columns, (std::vector<float>{1998, 2035, 2072}));
    EXPECT_EQ(sums.Add(rows.values), 6105.0F);
  }
}

}  // namespace
}  // namespace dlbench::reference
