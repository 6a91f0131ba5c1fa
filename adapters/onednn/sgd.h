#pragma once

#include <cstdint>

#include "spec.h"

namespace dlbench::onednn {

/// One parameter's update in a single pass over w, v and g, on `threads` threads:
/// v <- momentum v + (g + decay w); w <- w - rate v, or w - rate (g + decay w + momentum v) with
/// nesterov (docs/protocol.md). `velocity` is null where momentum is 0.
void SgdUpdate(const SgdRule& rule, bool decays, float rate, int threads, std::int64_t count,
               const float* gradient, float* values, float* velocity);

}  // namespace dlbench::onednn
