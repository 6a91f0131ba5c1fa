#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace dlbench::verify {

/// How far a candidate tensor is from the reference's. Source of the three figures:
/// docs/equality.md.
struct ErrorFigures {
  double norm_relative = 0.0;    ///< |a - r| / |r|; where |r| = 0: |a|.
  double worst_over_rms = 0.0;   ///< max |a_i - r_i| / rms(r).
  double cosine_distance = 0.0;  ///< 1 - a.r / (|a| |r|).
  bool finite = true;            ///< False if the candidate holds NaN or infinity.
};

/// The quantities compared, in the order in which a fault shows.
enum class Quantity { kLogits, kLoss, kGradient, kUpdate, kRunLoss, kRunUpdate, kRunState };
/// "logits", "loss", "gradient", "update", "run_loss", "run_update", "run_state".
std::string ToString(Quantity quantity);

/// One comparison: a tensor, its figures and the limits they were held against.
struct Check {
  Quantity quantity = Quantity::kLogits;
  std::string tensor;  ///< Canonical name; empty for logits and loss.
  std::string moment;  ///< "before", "after", "run".
  std::int64_t steps =
      0;  ///< Training steps behind the quantity: w(steps) - w(0), loss of that step.
  ErrorFigures error;
  double norm_limit = 0.0;
  double worst_limit = 0.0;
  bool decidable =
      true;  ///< False where float32 cannot decide (limit above 1e-2): printed, not used.
  bool passed = true;
};

enum class GateStatus { kEqual, kUnequal, kMistrusted };
/// "equal", "unequal", "mistrusted".
std::string ToString(GateStatus status);

/// What the gate says about one launch.
struct GateResult {
  GateStatus status = GateStatus::kEqual;
  std::int64_t steps = 0;     ///< Training steps compared.
  std::vector<Check> checks;  ///< All of them, in execution order.
  std::string reason;         ///< First failure in words; empty if equal.
  std::string diagnosis;      ///< Likely cause, only if it fits within the limits; else empty.
  std::vector<std::string> blind_spots;  ///< Known transformations that this gate could not see.
};

}  // namespace dlbench::verify
