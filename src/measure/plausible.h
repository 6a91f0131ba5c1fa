#pragma once

#include <optional>
#include <string>

namespace dlbench::measure {

/// Why a step time cannot be true: more than 1.1 x the measured peak. Nothing where it can.
/// `flops_per_step`: with stride-1 convolutions of 3x3 and more counted at a quarter, because
/// Winograd's algorithm saves at most that much there (Lavin and Gray 2016); `fma_peak_flops`:
/// register-only multiply-add rate of the asked threads in FLOP/s, measured undisturbed. Nothing as
/// well where a figure is not positive and finite: then it cannot be judged.
std::optional<std::string> Impossible(double flops_per_step, double step_seconds,
                                      double fma_peak_flops);

}  // namespace dlbench::measure
