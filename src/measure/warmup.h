#pragma once

#include <cstdint>
#include <span>

#include "measure/measure.h"

namespace dlbench::measure {

/// The records after the first `warmup_steps` steps. A record that holds steps of both sides
/// belongs to the warm-up. Warm-up is a cut in the analysis: what lies before it stays stored.
std::span<const StepRecord> AfterWarmup(std::span<const StepRecord> records,
                                        std::int64_t warmup_steps);

}  // namespace dlbench::measure
