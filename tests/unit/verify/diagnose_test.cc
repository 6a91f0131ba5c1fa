#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "answering.h"

namespace dlbench::verify {
namespace {

using testing::HasSubstr;

class DiagnoseTest : public AnsweringTest {
 protected:
  /// The first check that fails and the cause given for it.
  void Expect(const Wrong& wrong, Quantity quantity, const std::string& cause) {
    const GateResult result = JudgementOf(problem_, *gate_, wrong);
    EXPECT_EQ(result.status, GateStatus::kUnequal) << cause;
    const auto failed = std::find_if(result.checks.begin(), result.checks.end(),
                                     [](const Check& check) { return !check.passed; });
    ASSERT_NE(failed, result.checks.end()) << cause;
    EXPECT_EQ(ToString(failed->quantity), ToString(quantity)) << cause;
    EXPECT_THAT(result.diagnosis, HasSubstr(cause)) << result.reason;
  }
  static Wrong Gradients(double factor) {
    Wrong wrong;
    wrong.gradients = [factor](Tensors& gradients) {
      for (auto& [name, values] : gradients) {
        for (double& value : values) value *= factor;
      }
    };
    return wrong;
  }

  /// The cross-entropy of the softmax of the softmax of the first batch's logits.
  double SoftmaxTwice(std::vector<double> values) const {
    const auto labels = BatchLabels(problem_.pool, 0);
    double total = 0.0;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      double* z = values.data() + 10 * row;
      for (int pass = 0; pass < 2; ++pass) {
        double sum = 0.0;
        for (int j = 0; j < 10; ++j) sum += z[j] = std::exp(z[j]);
        for (int j = 0; j < 10; ++j) z[j] /= sum;
      }
      total -= std::log(z[labels[row]]);
    }
    return total / static_cast<double>(labels.size());
  }

  Problem problem_ = MakeProblem(SmallNet(), 16);
  std::unique_ptr<Gate> gate_ = GateOf(problem_);
};

TEST_F(DiagnoseTest, AnHonestAnswerIsEqualWithoutADiagnosis) {
  for (int order = 0; order < 6; ++order) {
    Wrong honest;
    honest.arithmetic.summation_order = order;
    const GateResult result = JudgementOf(problem_, *gate_, honest);
    EXPECT_EQ(result.status, GateStatus::kEqual) << result.reason;
    EXPECT_EQ(result.diagnosis, "");
  }
}

TEST_F(DiagnoseTest, FactorsOnTheGradientAreNamed) {
  Expect(Gradients(16.0), Quantity::kGradient, "summed over the batch, not averaged");
  Expect(Gradients(1.0 / 16.0), Quantity::kGradient, "divided by the batch size once too often");
  Expect(Gradients(-1.0), Quantity::kGradient, "wrong sign");
  Expect(Gradients(0.7), Quantity::kGradient, "scaled by 0.7 (clipped?)");
}

TEST_F(DiagnoseTest, AGradientThatHoldsTheDecayIsRecognised) {
  Wrong wrong;
  wrong.gradients = [&](Tensors& gradients) {
    const std::vector<float>& weights = problem_.weights.at("fc1.weight");
    for (std::size_t i = 0; i < weights.size(); ++i) {
      gradients.at("fc1.weight")[i] += 0.01 * static_cast<double>(weights[i]);
    }
  };
  Expect(wrong, Quantity::kGradient, "decay is already contained in the gradient");
}

TEST_F(DiagnoseTest, ADetachedTensorIsNamed) {
  Wrong wrong;
  wrong.gradients = [](Tensors& gradients) {
    std::vector<double>& values = gradients.at("fc2.weight");
    std::fill(values.begin(), values.end(), 0.0);
  };
  Expect(wrong, Quantity::kGradient, "'fc2.weight' is zero");
}

TEST_F(DiagnoseTest, AMissingBiasIsNamed) {
  Wrong wrong;
  wrong.used_weights = [](Tensors& weights) {
    std::vector<double>& bias = weights.at("fc2.bias");
    std::fill(bias.begin(), bias.end(), 0.0);
  };
  Expect(wrong, Quantity::kLogits, "the bias 'fc2.bias' is missing");
}

TEST_F(DiagnoseTest, ATransposedSquareWeightIsNamed) {
  Wrong wrong;
  wrong.used_weights = [](Tensors& weights) {
    std::vector<double>& square = weights.at("fc2.weight");
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < i; ++j) std::swap(square[16 * i + j], square[16 * j + i]);
    }
  };
  Expect(wrong, Quantity::kLogits, "the weight 'fc2.weight' is transposed");
}

TEST_F(DiagnoseTest, AnotherActivationAndAnInputThatIsNotScaledAreNamed) {
  Wrong activation;
  activation.network = problem_.network;
  activation.network->nodes[1].op = "relu";
  Expect(activation, Quantity::kLogits, "relu");
  Wrong input;
  input.inputs = [](std::vector<float>& x) {
    for (float& value : x) value /= 0.5F;
  };
  Expect(input, Quantity::kLogits, "the input is not scaled");
}

TEST_F(DiagnoseTest, ALowerPrecisionIsRecognisedByTheDirectionOfItsErrors) {
  Wrong wrong;
  wrong.arithmetic.precision = reference::Precision::kBFloat16Operands;
  Expect(wrong, Quantity::kLogits, "bfloat16");
  wrong.arithmetic.precision = reference::Precision::kTF32Operands;
  Expect(wrong, Quantity::kLogits, "TF32");
}

TEST_F(DiagnoseTest, WrongLossesAreNamed) {
  Wrong sum;
  sum.network = problem_.network;
  sum.network->loss.reduction = "sum";
  Expect(sum, Quantity::kLoss, "summed over the batch, not averaged");
  Wrong scaled;
  scaled.losses = [](std::vector<double>& losses) {
    for (double& loss : losses) loss *= 1.02;
  };
  Expect(scaled, Quantity::kLoss, "every loss is scaled by 1.02");
  Wrong stale;
  stale.losses = [](std::vector<double>& losses) {
    std::copy_backward(losses.begin(), losses.end() - 1, losses.end());
    losses.front() = 0.0;
  };
  Expect(stale, Quantity::kLoss, "the loss is that of the step before");
  Wrong twice;
  std::vector<double> logits;
  twice.logits = [&](std::vector<double>& right) { logits = right; };
  twice.losses = [&](std::vector<double>& losses) { losses[0] = SoftmaxTwice(logits); };
  Expect(twice, Quantity::kLoss, "softmax is applied twice");
}

TEST_F(DiagnoseTest, EveryKnownUpdateFaultIsCaughtAndNamed) {
  for (const UpdateRule& rule : KnownUpdateFaults(problem_.network)) {
    Wrong wrong;
    wrong.rule = rule;
    // From zero velocity with the decay inside, 1 - 0.9 is the same as a tenth of the rate.
    Expect(wrong, Quantity::kUpdate,
           rule.dampened ? "the learning rate is a tenth of what it should be" : rule.cause);
  }
}

TEST_F(DiagnoseTest, AnyOtherRateIsGivenAsAFactor) {
  Wrong wrong;
  wrong.rule.rate_factor = 1.3;
  Expect(wrong, Quantity::kUpdate, "the learning rate is 1.3 times what it should be");
}

TEST_F(DiagnoseTest, ACauseThatDoesNotFitIsNotGiven) {
  Wrong wrong;
  wrong.logits = [](std::vector<double>& logits) {
    for (std::size_t i = 0; i < logits.size(); i += 3) logits[i] += 0.1;
  };
  Expect(wrong, Quantity::kLogits, "");
  EXPECT_EQ(JudgementOf(problem_, *gate_, wrong).diagnosis, "");
}

TEST_F(DiagnoseTest, ValuesThatAreNotFiniteFailAndAreSaid) {
  Wrong wrong;
  wrong.logits = [](std::vector<double>& logits) { logits[5] = std::nan(""); };
  Expect(wrong, Quantity::kLogits, "values are not finite");
}

}  // namespace
}  // namespace dlbench::verify
