#include "softmax_loss.h"

#include <cmath>
#include <limits>

#include "parallel.h"
#include "simd.h"
#include "vector_math.h"

namespace dlbench::onednn {
namespace {

// Several running values side by side, so that no element waits for the one before it.
constexpr std::int64_t kLanes = 16;

DLBENCH_SIMD_BODY float Highest(std::int64_t count, const float* __restrict z) {
  float lanes[kLanes];
  for (float& lane : lanes) lane = -std::numeric_limits<float>::infinity();
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = z[i + k] > lanes[k] ? z[i + k] : lanes[k];
  }
  for (; i < count; ++i) lanes[0] = z[i] > lanes[0] ? z[i] : lanes[0];
  float highest = lanes[0];
  for (const float lane : lanes) highest = lane > highest ? lane : highest;
  return highest;
}

DLBENCH_SIMD_BODY double Sum(std::int64_t count, const float* __restrict values) {
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] += static_cast<double>(values[i + k]);
  }
  for (; i < count; ++i) lanes[0] += static_cast<double>(values[i]);
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// Rows [begin, end): with m = max z, s = sum e^(z - m): loss = m + log s - z[label] and
/// d loss / dz = scale * (e^(z - m) / s - [label]).
DLBENCH_SIMD_BODY void RowsBody(std::int64_t begin, std::int64_t end, std::int64_t classes,
                                float scale, const float* logits, const std::int32_t* labels,
                                float* gradient, double* losses) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* __restrict z = logits + row * classes;
    float* __restrict dz = gradient + row * classes;
    const float highest = Highest(classes, z);
    for (std::int64_t i = 0; i < classes; ++i) dz[i] = ExpNegative(z[i] - highest);
    const double sum = Sum(classes, dz);
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
