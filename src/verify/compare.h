#pragma once

#include <span>

#include "verify/verify.h"

namespace dlbench::verify {

/// The three figures of `candidate` against `reference` (equal sizes), in one pass:
/// |a - r| / |r|, max |a_i - r_i| / rms(r), 1 - a.r / (|a| |r|).
ErrorFigures Compare(std::span<const float> candidate, std::span<const double> reference);
/// The same for float64 candidates (float32 runs of the reference, losses).
ErrorFigures Compare(std::span<const double> candidate, std::span<const double> reference);

/// Figures of the *change* end - start: comparing weights themselves hides every fault, since
/// learning rate times gradient is small beside them.
ErrorFigures CompareChange(std::span<const float> candidate_start,
                           std::span<const float> candidate_end,
                           std::span<const double> reference_start,
                           std::span<const double> reference_end);
/// The same for float64 candidates.
ErrorFigures CompareChange(std::span<const double> candidate_start,
                           std::span<const double> candidate_end,
                           std::span<const double> reference_start,
                           std::span<const double> reference_end);

/// Element-wise larger figures of the two.
ErrorFigures Larger(const ErrorFigures& a, const ErrorFigures& b);

}  // namespace dlbench::verify
