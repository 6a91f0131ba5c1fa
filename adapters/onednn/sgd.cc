#include "sgd.h"

#include "parallel.h"
#include "simd.h"

namespace dlbench::onednn {
namespace {

constexpr std::int64_t kCacheLine = 16;  // floats; no two threads write one line

/// The numbers of one update; decay is 0 where it does not apply.
struct Coefficients {
  float rate, momentum, decay;
};

DLBENCH_SIMD_BODY void PlainBody(std::int64_t count, Coefficients c, const float* __restrict g,
                                 float* __restrict w) {
  for (std::int64_t i = 0; i < count; ++i) w[i] -= c.rate * (g[i] + c.decay * w[i]);
}

DLBENCH_SIMD_BODY void MomentumBody(std::int64_t count, Coefficients c, const float* __restrict g,
                                    float* __restrict w, float* __restrict v) {
  for (std::int64_t i = 0; i < count; ++i) {
    v[i] = c.momentum * v[i] + (g[i] + c.decay * w[i]);
    w[i] -= c.rate * v[i];
  }
}

DLBENCH_SIMD_BODY void NesterovBody(std::int64_t count, Coefficients c, const float* __restrict g,
                                    float* __restrict w, float* __restrict v) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float step = g[i] + c.decay * w[i];
    v[i] = c.momentum * v[i] + step;
    w[i] -= c.rate * (step + c.momentum * v[i]);
  }
}

DLBENCH_SIMD_VERSIONS(Plain, PlainBody,
                      (std::int64_t count, Coefficients c, const float* g, float* w),
                      (count, c, g, w))
DLBENCH_SIMD_VERSIONS(Momentum, MomentumBody,
                      (std::int64_t count, Coefficients c, const float* g, float* w, float* v),
                      (count, c, g, w, v))
DLBENCH_SIMD_VERSIONS(Nesterov, NesterovBody,
                      (std::int64_t count, Coefficients c, const float* g, float* w, float* v),
                      (count, c, g, w, v))

}  // namespace

void SgdUpdate(const SgdRule& rule, bool decays, float rate, int threads, std::int64_t count,
               const float* gradient, float* values, float* velocity) {
  const Coefficients c{rate, rule.momentum, decays ? rule.weight_decay : 0.0F};
  ParallelRanges(threads, count, kCacheLine, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t length = end - begin;
    if (velocity == nullptr) {
      Plain(length, c, gradient + begin, values + begin);
    } else if (rule.nesterov) {
      Nesterov(length, c, gradient + begin, values + begin, velocity + begin);
    } else {
      Momentum(length, c, gradient + begin, values + begin, velocity + begin);
    }
  });
}

}  // namespace dlbench::onednn
