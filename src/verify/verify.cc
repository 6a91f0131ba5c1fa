#include "verify/verify.h"

namespace dlbench::verify {

std::string ToString(Quantity quantity) {
  switch (quantity) {
    case Quantity::kLogits:
      return "logits";
    case Quantity::kLoss:
      return "loss";
    case Quantity::kGradient:
      return "gradient";
    case Quantity::kUpdate:
      return "update";
    case Quantity::kRunLoss:
      return "run_loss";
    case Quantity::kRunUpdate:
      return "run_update";
    case Quantity::kRunState:
      return "run_state";
  }
  return "unknown";
}

std::string ToString(GateStatus status) {
  switch (status) {
    case GateStatus::kEqual:
      return "equal";
    case GateStatus::kUnequal:
      return "unequal";
    case GateStatus::kMistrusted:
      return "mistrusted";
  }
  return "unknown";
}

}  // namespace dlbench::verify
