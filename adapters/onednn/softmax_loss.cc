#include "softmax_loss.h"

#include <cmath>
#include <limits>

#include "parallel.h"
#include "simd.h"

namespace dlbench::onednn {
namespace {

/// e^x for x <= 0 without a call, so that the loop over the classes vectorises: x = n ln 2 + r with
/// |r| <= ln 2 / 2, the Taylor polynomial of degree 7 for e^r (truncation below 5e-9, relative) and
/// 2^n by the exponent's bits. Below the normal numbers the result is 0.
DLBENCH_SIMD_BODY float ExpNegative(float x) {
  constexpr float kLowest = -87.3F;      // e^-87.3 = 1.2e-38, the smallest normal number
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // ln 2 in two parts: n * high is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  const float clamped = x < kLowest ? kLowest : x;
  const float n = (clamped * kLog2E + kRound) - kRound;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const auto exponent = static_cast<std::int32_t>(n) + 127;
  const float power = __builtin_bit_cast(float, static_cast<std::uint32_t>(exponent) << 23U);
  return x < kLowest ? 0.0F : p * power;
}

/// Rows [begin, end): with m = max z, s = sum e^(z - m): loss = m + log s - z[label] and
/// d loss / dz = scale * (e^(z - m) / s - [label]).
DLBENCH_SIMD_BODY void RowsBody(std::int64_t begin, std::int64_t end, std::int64_t classes,
                                float scale, const float* logits, const std::int32_t* labels,
                                float* gradient, double* losses) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* __restrict z = logits + row * classes;
    float* __restrict dz = gradient + row * classes;
    float highest = -std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < classes; ++i) highest = z[i] > highest ? z[i] : highest;
    for (std::int64_t i = 0; i < classes; ++i) dz[i] = ExpNegative(z[i] - highest);
    double sum = 0.0;
    for (std::int64_t i = 0; i < classes; ++i) sum += static_cast<double>(dz[i]);
    const auto factor = static_cast<float>(static_cast<double>(scale) / sum);
    for (std::int64_t i = 0; i < classes; ++i) dz[i] *= factor;
    dz[labels[row]] -= scale;
    losses[row] =
        static_cast<double>(highest) - static_cast<double>(z[labels[row]]) + std::log(sum);
  }
}

DLBENCH_SIMD_VERSIONS(Rows, RowsBody,
                      (std::int64_t begin, std::int64_t end, std::int64_t classes, float scale,
                       const float* logits, const std::int32_t* labels, float* gradient,
                       double* losses),
                      (begin, end, classes, scale, logits, labels, gradient, losses))

constexpr std::int64_t kRowsPerThread = 16;  // fewer are done before a thread wakes up

}  // namespace

SoftmaxLoss::SoftmaxLoss(std::int64_t batch, std::int64_t classes, bool mean, int threads)
    : batch_(batch),
      classes_(classes),
      mean_(mean),
      threads_(threads),
      row_losses_(static_cast<std::size_t>(batch)) {}

double SoftmaxLoss::Evaluate(const float* logits, const std::int32_t* labels, float* gradient) {
  const float scale = mean_ ? 1.0F / static_cast<float>(batch_) : 1.0F;
  ParallelRanges(threads_, batch_, kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    Rows(begin, end, classes_, scale, logits, labels, gradient, row_losses_.data());
  });
  double total = 0.0;
  for (const double loss : row_losses_) total += loss;
  return mean_ ? total / static_cast<double>(batch_) : total;
}

}  // namespace dlbench::onednn
