#include "verify/limits.h"

#include <span>

#include "verify/compare.h"

namespace dlbench::verify {

void Limits::Observe(Quantity quantity, const std::string& tensor, std::int64_t steps,
                     const ErrorFigures& natural) {
  ErrorFigures& known = natural_[{quantity, tensor, steps}];
  known = Larger(known, natural);
}

ErrorFigures Limits::Natural(Quantity quantity, const std::string& tensor,
                             std::int64_t steps) const {
  const auto found = natural_.find({quantity, tensor, steps});
  return found == natural_.end() ? ErrorFigures{} : found->second;
}

Limit Limits::Of(Quantity quantity, const std::string& tensor, std::int64_t steps) const {
  const ErrorFigures natural = Natural(quantity, tensor, steps);
  return {kSafety * natural.norm_relative + kNormFloor,
          kSafety * natural.worst_over_rms + kWorstFloor};
}

Check Limits::Judge(Quantity quantity, const std::string& tensor, const std::string& moment,
                    std::int64_t steps, const ErrorFigures& error) const {
  const Limit limit = Of(quantity, tensor, steps);
  Check check;
  check.quantity = quantity;
  check.tensor = tensor;
  check.moment = moment;
  check.steps = steps;
  check.error = error;
  check.norm_limit = limit.norm;
  check.worst_limit = limit.worst;
  const bool is_update = quantity == Quantity::kUpdate || quantity == Quantity::kRunUpdate ||
                         quantity == Quantity::kRunState;
  check.decidable = !is_update || limit.norm <= kDecidable;
  const bool within = error.norm_relative <= limit.norm && error.worst_over_rms <= limit.worst;
  // What is not finite is wrong, decidable or not.
  check.passed = error.finite && (within || !check.decidable);
  return check;
}

void ObserveLosses(const Trajectory& observed, const Trajectory& reference, Quantity quantity,
                   Limits& limits) {
  ErrorFigures largest;
  for (std::size_t i = 0; i < reference.losses.size(); ++i) {
    largest = Larger(
        largest, Compare(std::span(&observed.losses[i], 1), std::span(&reference.losses[i], 1)));
  }
  for (std::size_t i = 0; i < reference.losses.size(); ++i) {
    limits.Observe(quantity, "", static_cast<std::int64_t>(i) + 1, largest);
  }
}

void ObserveTrajectory(const Trajectory& observed, const Trajectory& reference, Limits& limits) {
  ObserveLosses(observed, reference, Quantity::kLoss, limits);
  if (!reference.logits.empty()) {
    limits.Observe(Quantity::kLogits, "", 1,
                   Compare(std::span<const double>(observed.logits), reference.logits));
  }
  for (const auto& [name, gradient] : reference.gradients) {
    limits.Observe(Quantity::kGradient, name, 1,
                   Compare(std::span<const double>(observed.gradients.at(name)), gradient));
  }
  for (const auto& [steps, weights] : reference.weights) {
    if (steps > 0) ObserveChange(observed, reference, steps, Quantity::kUpdate, limits);
  }
}

void ObserveChange(const Trajectory& observed, const Trajectory& reference, std::int64_t steps,
                   Quantity quantity, Limits& limits) {
  using BySteps = std::map<std::int64_t, Tensors>;
  const auto observe = [&](const BySteps& seen, const BySteps& right) {
    for (const auto& [name, end] : right.at(steps)) {
      limits.Observe(quantity, name, steps,
                     CompareChange(std::span<const double>(seen.at(0).at(name)),
                                   seen.at(steps).at(name), right.at(0).at(name), end));
    }
  };
  observe(observed.weights, reference.weights);
  observe(observed.buffers, reference.buffers);
}

}  // namespace dlbench::verify
