#pragma once

#include <cstdint>

namespace dlbench::onednn {

// One pass over `count` floats each, on `threads` threads. The output may be an input.

/// sum = a + b.
void AddValues(int threads, std::int64_t count, const float* a, const float* b, float* sum);
/// sum = max(a + b, 0).
void AddRelu(int threads, std::int64_t count, const float* a, const float* b, float* sum);
/// y = x * mask * scale for rows of `width`; row r has the mask's row (r % inner) * outer +
/// r / inner, where rows = outer * inner. Masks are 0 or 1.
void ApplyMask(int threads, std::int64_t outer, std::int64_t inner, std::int64_t width, float scale,
               const std::uint8_t* mask, const float* x, float* y);

}  // namespace dlbench::onednn
