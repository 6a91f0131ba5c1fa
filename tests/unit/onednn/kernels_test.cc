#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "buffer.h"
#include "naive_network.h"
#include "parallel.h"
#include "sgd.h"
#include "softmax_loss.h"

namespace dlbench::onednn {
namespace {

TEST(ParallelRanges, CoversEverythingOnceInAlignedRanges) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::int64_t count : {0, 1, 15, 16, 17, 100, 1000}) {
      std::vector<int> hits(static_cast<std::size_t>(count));
      std::atomic<bool> aligned = true;
      ParallelRanges(threads, count, 16, [&](std::int64_t begin, std::int64_t end) {
        if (begin % 16 != 0 || (end % 16 != 0 && end != count)) aligned = false;
        for (std::int64_t i = begin; i < end; ++i) ++hits[static_cast<std::size_t>(i)];
      });
      EXPECT_TRUE(aligned);
      EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), std::int64_t{0}), count);
      EXPECT_EQ(std::count(hits.begin(), hits.end(), 1), count);
    }
  }
}

TEST(ParallelRanges, UsesTheThreadsItIsGiven) {
  std::atomic<int> calls = 0;
  ParallelRanges(3, 1000, 16, [&](std::int64_t, std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 3);
}

TEST(Buffer, IsZeroAlignedAndRoundedUp) {
  const Buffer small(100);
  const Buffer large(std::size_t{5} << 20);
  EXPECT_EQ(small.bytes(), 4096U);
  EXPECT_EQ(large.bytes(), std::size_t{6} << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % (std::size_t{2} << 20), 0U);
  EXPECT_EQ(std::count(large.data(), large.data() + large.bytes() / 4, 0.0F),
            static_cast<std::int64_t>(large.bytes() / 4));
  EXPECT_EQ(Buffer(0).data(), nullptr);
}

TEST(SgdUpdate, DoesNotTouchWhatLiesBehind) {
  for (const std::int64_t count : {1, 15, 16, 31, 33}) {
    std::vector<float> w(static_cast<std::size_t>(count) + 1, 1.0F);
    std::vector<float> v(w.size(), 2.0F);
    const std::vector<float> g(w.size(), 3.0F);
    SgdUpdate({0.5F, 0.0F, false}, true, 0.25F, 2, count, g.data(), w.data(), v.data());
    for (std::size_t i = 0; i + 1 < w.size(); ++i) {
      EXPECT_EQ(v[i], 0.5F * 2.0F + 3.0F);
      EXPECT_EQ(w[i], 1.0F - 0.25F * 4.0F);
    }
    EXPECT_EQ(w.back(), 1.0F);
    EXPECT_EQ(v.back(), 2.0F);
  }
}

/// Loss and gradient in float64 for one row.
double ExactRow(const float* z, std::int64_t classes, std::int32_t label, std::vector<double>& dz) {
  double highest = -INFINITY;
  for (std::int64_t i = 0; i < classes; ++i) highest = std::max(highest, static_cast<double>(z[i]));
  double sum = 0.0;
  for (std::int64_t i = 0; i < classes; ++i) sum += std::exp(static_cast<double>(z[i]) - highest);
  for (std::int64_t i = 0; i < classes; ++i) {
    dz.push_back(std::exp(static_cast<double>(z[i]) - highest) / sum - (i == label ? 1.0 : 0.0));
  }
  return highest + std::log(sum) - static_cast<double>(z[label]);
}

TEST(SoftmaxLoss, AgreesWithFloat64OverTheWholeRange) {
  for (const float range : {1.0F, 30.0F, 1000.0F}) {
    constexpr std::int64_t kBatch = 37;
    constexpr std::int64_t kClasses = 19;
    std::vector<float> logits = RandomNumbers(kBatch * kClasses, 3);
    for (float& z : logits) z *= range;
    const std::vector<std::int32_t> labels = RandomLabels(kBatch, kClasses, 4);
    std::vector<double> expected;
    double sum = 0.0;
    for (std::int64_t row = 0; row < kBatch; ++row) {
      sum += ExactRow(logits.data() + row * kClasses, kClasses,
                      labels[static_cast<std::size_t>(row)], expected);
    }
    for (const int threads : {1, 2}) {
      std::vector<float> gradient(logits.size());
      SoftmaxLoss loss(kBatch, kClasses, false, threads);
      EXPECT_NEAR(loss.Evaluate(logits.data(), labels.data(), gradient.data()), sum, 1e-6 * sum);
      EXPECT_LT(RelativeError(gradient, expected), 1e-6);
    }
  }
}

TEST(SoftmaxLoss, MeanDividesByTheBatch) {
  const std::vector<float> logits = RandomNumbers(20, 3);
  const std::vector<std::int32_t> labels = {0, 1, 2, 3};
  std::vector<float> sums(20), means(20);
  const double sum =
      SoftmaxLoss(4, 5, false, 1).Evaluate(logits.data(), labels.data(), sums.data());
  const double mean =
      SoftmaxLoss(4, 5, true, 1).Evaluate(logits.data(), labels.data(), means.data());
  EXPECT_DOUBLE_EQ(mean, sum / 4);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(means[i], sums[i] / 4, 1e-7);
}

TEST(SoftmaxLoss, TheThreadsDoNotChangeABit) {
  const std::vector<float> logits = RandomNumbers(1000, 3);
  const std::vector<std::int32_t> labels = RandomLabels(100, 10, 4);
  std::vector<float> one(1000), three(1000);
  const double alone =
      SoftmaxLoss(100, 10, true, 1).Evaluate(logits.data(), labels.data(), one.data());
  EXPECT_EQ(SoftmaxLoss(100, 10, true, 3).Evaluate(logits.data(), labels.data(), three.data()),
            alone);
  EXPECT_EQ(one, three);
}

TEST(SoftmaxLoss, NotANumberStaysVisible) {
  const std::vector<float> logits = {1.0F, NAN, 2.0F};
  const std::vector<std::int32_t> labels = {1};
  std::vector<float> gradient(3);
  EXPECT_TRUE(std::isnan(
      SoftmaxLoss(1, 3, true, 1).Evaluate(logits.data(), labels.data(), gradient.data())));
}

}  // namespace
}  // namespace dlbench::onednn
