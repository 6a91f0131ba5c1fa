#include "elementwise.h"

#include "parallel.h"
#include "simd.h"

namespace dlbench::onednn {
namespace {

constexpr std::int64_t kGrain = 2048;  // floats; below that a thread costs more than it saves

DLBENCH_SIMD_BODY void AddBody(std::int64_t count, const float* a, const float* b, float* sum) {
  DLBENCH_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

DLBENCH_SIMD_BODY void AddReluBody(std::int64_t count, const float* a, const float* b, float* sum) {
  DLBENCH_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = a[i] + b[i];
    sum[i] = value < 0.0F ? 0.0F : value;  // not a number stays visible
  }
}

DLBENCH_SIMD_BODY void MaskBody(std::int64_t count, float scale, const std::uint8_t* mask,
                                const float* x, float* y) {
  DLBENCH_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) y[i] = mask[i] != 0 ? x[i] * scale : 0.0F;
}

DLBENCH_SIMD_VERSIONS(AddRange, AddBody,
                      (std::int64_t count, const float* a, const float* b, float* sum),
                      (count, a, b, sum))
DLBENCH_SIMD_VERSIONS(AddReluRange, AddReluBody,
                      (std::int64_t count, const float* a, const float* b, float* sum),
                      (count, a, b, sum))
DLBENCH_SIMD_VERSIONS(MaskRange, MaskBody,
                      (std::int64_t count, float scale, const std::uint8_t* mask, const float* x,
                       float* y),
                      (count, scale, mask, x, y))

}  // namespace

void AddValues(int threads, std::int64_t count, const float* a, const float* b, float* sum) {
  ParallelRanges(threads, count, kGrain, [=](std::int64_t begin, std::int64_t end) {
    AddRange(end - begin, a + begin, b + begin, sum + begin);
  });
}

void AddRelu(int threads, std::int64_t count, const float* a, const float* b, float* sum) {
  ParallelRanges(threads, count, kGrain, [=](std::int64_t begin, std::int64_t end) {
    AddReluRange(end - begin, a + begin, b + begin, sum + begin);
  });
}

void ApplyMask(int threads, std::int64_t outer, std::int64_t inner, std::int64_t width, float scale,
               const std::uint8_t* mask, const float* x, float* y) {
  const std::int64_t rows_a_grain = width >= kGrain ? 1 : (kGrain + width - 1) / width;
  ParallelRanges(threads, outer * inner, rows_a_grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t of_mask = row % inner * outer + row / inner;
      MaskRange(width, scale, mask + of_mask * width, x + row * width, y + row * width);
    }
  });
}

}  // namespace dlbench::onednn
