#pragma once

#include <cstdint>

#include "simd.h"

namespace dlbench::onednn {

// Functions without calls or branches, so that loops over them vectorise.

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

/// 1 / (1 + e^-x), by e^-|x| so that nothing overflows.
DLBENCH_SIMD_BODY float Sigmoid(float x) {
  const float e = ExpNegative(x < 0.0F ? x : -x);
  return (x < 0.0F ? e : 1.0F) / (1.0F + e);
}

/// tanh x: (1 - e) / (1 + e) with e = e^-2|x|; below 0.625, where that loses digits, the polynomial
/// of Cephes' tanhf (relative error 1.3e-7).
DLBENCH_SIMD_BODY float Tanh(float x) {
  const float magnitude = x < 0.0F ? -x : x;
  const float e = ExpNegative(-2.0F * magnitude);
  const float large = (1.0F - e) / (1.0F + e);
  const float z = x * x;
  float p = -5.70498872745e-3F;
  p = p * z + 2.06390887954e-2F;
  p = p * z - 5.37397155531e-2F;
  p = p * z + 1.33314422036e-1F;
  p = p * z - 3.33332819422e-1F;
  const float small = p * z * x + x;
  return magnitude < 0.625F ? small : (x < 0.0F ? -large : large);
}

}  // namespace dlbench::onednn
