#include "measure/plausible.h"

#include <fmt/format.h>

#include <cmath>

namespace dlbench::measure {
namespace {

/// Room for the error of the measured peak.
constexpr double kPeakTolerance = 1.1;

bool IsKnown(double value) { return std::isfinite(value) && value > 0.0; }

}  // namespace

std::optional<std::string> Impossible(double flops_per_step, double step_seconds,
                                      double fma_peak_flops) {
  if (!IsKnown(flops_per_step) || !IsKnown(step_seconds) || !IsKnown(fma_peak_flops)) {
    return std::nullopt;
  }
  const double rate = flops_per_step / step_seconds;
  if (rate <= kPeakTolerance * fma_peak_flops) return std::nullopt;
  return fmt::format(
      "{:.4g} GFLOP/s is more than this machine can do: the peak of its multiply-add units was "
      "measured as {:.4g} GFLOP/s, so steps were skipped or the clock is wrong",
      rate * 1e-9, fma_peak_flops * 1e-9);
}

}  // namespace dlbench::measure
