#include "verify/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace dlbench::verify {
namespace {

using Doubles = std::vector<double>;

ErrorFigures Figures(const Doubles& candidate, const Doubles& reference) {
  return Compare(std::span<const double>(candidate), reference);
}

TEST(CompareTest, NormWorstElementAndCosineAreWhatTheirFormulasSay) {
  // |a - r| = 5, |r| = 5, rms(r) = 5/sqrt(2); a is orthogonal to a - r, a.r = 0.
  const ErrorFigures figures = Figures({0.0, 0.0}, {3.0, 4.0});
  EXPECT_DOUBLE_EQ(figures.norm_relative, 1.0);
  EXPECT_DOUBLE_EQ(figures.worst_over_rms, 4.0 / (5.0 / std::sqrt(2.0)));
  EXPECT_DOUBLE_EQ(figures.cosine_distance, 1.0);
  const ErrorFigures scaled = Figures({6.0, 8.0}, {3.0, 4.0});
  EXPECT_DOUBLE_EQ(scaled.norm_relative, 1.0);
  EXPECT_NEAR(scaled.cosine_distance, 0.0, 1e-15) << "a factor leaves the direction";
  EXPECT_NEAR(Figures({-3.0, -4.0}, {3.0, 4.0}).cosine_distance, 2.0, 1e-15);
}

TEST(CompareTest, OneWrongElementOfManyShowsInTheWorstElement) {
  Doubles reference(10'000, 1.0);
  Doubles candidate = reference;
  candidate[4711] = 1.001;
  const ErrorFigures figures = Figures(candidate, reference);
  EXPECT_NEAR(figures.norm_relative, 1e-5, 1e-9) << "hidden in the norm";
  EXPECT_NEAR(figures.worst_over_rms, 1e-3, 1e-9);
}

TEST(CompareTest, ErrorsAreRelativeToTheReference) {
  for (const double size : {1e-6, 1.0, 1e6}) {
    EXPECT_NEAR(Figures({1.01 * size, size}, {size, size}).norm_relative, 0.01 / std::sqrt(2.0),
                1e-12);
  }
}

TEST(CompareTest, NotANumberAndInfinityAreReportedWhereverTheyStand) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{299'999}}) {
      Doubles candidate(300'000, 1.0);
      candidate[at] = bad;
      EXPECT_FALSE(Figures(candidate, Doubles(300'000, 1.0)).finite);
    }
  }
  EXPECT_FALSE(Larger(Figures({std::nan("")}, {1.0}), Figures({1.0}, {1.0})).finite);
}

TEST(CompareTest, WhereTheReferenceIsZeroTheCandidateItselfIsTheError) {
  const ErrorFigures nothing = Figures({0.0, 0.0}, {0.0, 0.0});
  EXPECT_EQ(nothing.norm_relative, 0.0);
  EXPECT_EQ(nothing.cosine_distance, 0.0);
  const ErrorFigures something = Figures({3.0, 4.0}, {0.0, 0.0});
  EXPECT_DOUBLE_EQ(something.norm_relative, 5.0);
  EXPECT_DOUBLE_EQ(something.worst_over_rms, 4.0);
  EXPECT_TRUE(something.finite);
}

TEST(CompareTest, AChangeIsComparedAsADifference) {
  // Weights agree to 1e-3, the update is wrong by a half.
  const Doubles start{1.0, -1.0};
  const Doubles end{1.001, -1.001};
  const Doubles right{1.002, -1.002};
  EXPECT_LT(Figures(end, right).norm_relative, 2e-3);
  EXPECT_NEAR(CompareChange(std::span<const double>(start), end, start, right).norm_relative, 0.5,
              1e-9);
}

}  // namespace
}  // namespace dlbench::verify
