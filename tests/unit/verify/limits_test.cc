#include "verify/limits.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dlbench::verify {
namespace {

ErrorFigures Error(double norm, double worst) { return {norm, worst, 0.0, true}; }

TEST(LimitsTest, ALimitIsEightTimesTheLargestNaturalErrorPlusTheFloor) {
  Limits limits;
  limits.Observe(Quantity::kGradient, "w", 1, Error(1e-6, 4e-6));
  limits.Observe(Quantity::kGradient, "w", 1, Error(2e-6, 3e-6));
  const Limit limit = limits.Of(Quantity::kGradient, "w", 1);
  EXPECT_DOUBLE_EQ(limit.norm, 8 * 2e-6 + 1e-6);
  EXPECT_DOUBLE_EQ(limit.worst, 8 * 4e-6 + 1e-5);
}

TEST(LimitsTest, WhatWasNeverObservedHasTheFloorAlone) {
  const Limit limit = Limits().Of(Quantity::kLoss, "", 3);
  EXPECT_DOUBLE_EQ(limit.norm, 1e-6);
  EXPECT_DOUBLE_EQ(limit.worst, 1e-5);
}

TEST(LimitsTest, EveryTensorQuantityAndNumberOfStepsIsJudgedByItsOwnLimit) {
  Limits limits;
  limits.Observe(Quantity::kGradient, "rough", 1, Error(1e-4, 1e-3));
  const auto passes = [&](Quantity quantity, const char* tensor, std::int64_t steps) {
    return limits.Judge(quantity, tensor, "before", steps, Error(5e-4, 5e-4)).passed;
  };
  EXPECT_TRUE(passes(Quantity::kGradient, "rough", 1));
  EXPECT_FALSE(passes(Quantity::kGradient, "fine", 1));
  EXPECT_FALSE(passes(Quantity::kGradient, "rough", 2));
  EXPECT_FALSE(passes(Quantity::kLogits, "rough", 1));
}

TEST(LimitsTest, BothTheNormAndTheWorstElementMustHold) {
  const Limits limits;
  EXPECT_TRUE(limits.Judge(Quantity::kLogits, "", "before", 1, Error(0.9e-6, 0.9e-5)).passed);
  EXPECT_FALSE(limits.Judge(Quantity::kLogits, "", "before", 1, Error(1.1e-6, 0.9e-5)).passed);
  EXPECT_FALSE(limits.Judge(Quantity::kLogits, "", "before", 1, Error(0.9e-6, 1.1e-5)).passed);
}

TEST(LimitsTest, AllLossesOfASequenceShareItsLargestNaturalError) {
  // The second step's loss is right by chance, which says nothing of what another run's would be.
  Trajectory right;
  right.losses = {1.0, 1.0, 1.0};
  Trajectory observed;
  observed.losses = {1.0 + 2e-7, 1.0, 1.0 - 5e-7};
  Limits limits;
  ObserveLosses(observed, right, Quantity::kRunLoss, limits);
  for (const std::int64_t step : {1, 2, 3}) {
    EXPECT_NEAR(limits.Of(Quantity::kRunLoss, "", step).norm, 8 * 5e-7 + 1e-6, 1e-12);
  }
}

TEST(LimitsTest, AnUpdateThatFloat32CannotDecideIsMarkedAndNotUsed) {
  Limits limits;
  limits.Observe(Quantity::kUpdate, "w", 5, Error(2e-3, 2e-3));
  limits.Observe(Quantity::kLogits, "", 1, Error(2e-3, 2e-3));
  const Check update = limits.Judge(Quantity::kUpdate, "w", "before", 5, Error(1.0, 1.0));
  EXPECT_FALSE(update.decidable);
  EXPECT_TRUE(update.passed);
  EXPECT_FALSE(limits.Judge(Quantity::kLogits, "", "before", 1, Error(1.0, 1.0)).passed)
      << "only updates may be undecidable";
}

TEST(LimitsTest, WhatIsNotFiniteFailsEvenWhereNothingCanBeDecided) {
  Limits limits;
  limits.Observe(Quantity::kUpdate, "w", 5, Error(1.0, 1.0));
  ErrorFigures error = Error(0.0, 0.0);
  error.finite = false;
  EXPECT_FALSE(limits.Judge(Quantity::kUpdate, "w", "before", 5, error).passed);
}

}  // namespace
}  // namespace dlbench::verify
