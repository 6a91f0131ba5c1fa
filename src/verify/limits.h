#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "verify/trajectory.h"
#include "verify/verify.h"

namespace dlbench::verify {

/// How far a quantity may be from the reference.
struct Limit {
  double norm = 0.0;   ///< On ErrorFigures::norm_relative.
  double worst = 0.0;  ///< On ErrorFigures::worst_over_rms.
};

/// limit = kSafety * natural + floor. Natural is the largest error of float32 runs of the reference
/// under several summation orders: what honest float32 arithmetic costs for this very case.
inline constexpr double kSafety = 8.0;
/// Floors, a few units in the last place of float32 (6e-8): libraries compute sigmoid, tanh and exp
/// to 1-4 ulp, where the reference's float32 runs round correctly.
inline constexpr double kNormFloor = 1e-6;
inline constexpr double kWorstFloor = 1e-5;
/// Above this a check cannot tell a lower precision or a wrong rule from rounding.
inline constexpr double kDecidable = 1e-2;

/// Limits by (quantity, tensor, steps).
class Limits {
 public:
  /// Raises the natural error of a quantity.
  void Observe(Quantity quantity, const std::string& tensor, std::int64_t steps,
               const ErrorFigures& natural);
  /// The largest error observed; zeros if none was.
  ErrorFigures Natural(Quantity quantity, const std::string& tensor, std::int64_t steps) const;
  /// The limit of a quantity that was observed; a quantity never observed has only the floor.
  Limit Of(Quantity quantity, const std::string& tensor, std::int64_t steps) const;
  /// A check of `error` against the limit.
  Check Judge(Quantity quantity, const std::string& tensor, const std::string& moment,
              std::int64_t steps, const ErrorFigures& error) const;

 private:
  std::map<std::tuple<Quantity, std::string, std::int64_t>, ErrorFigures> natural_;
};

/// Raises the limits of `quantity`, a loss, at every step by the largest error of `observed` at any
/// step. The error of one number is near zero by chance now and then: of two runs' errors at one
/// step the larger is below an eighth of a third one's once in a hundred times.
void ObserveLosses(const Trajectory& observed, const Trajectory& reference, Quantity quantity,
                   Limits& limits);

/// Raises the limits by what `observed` (a float32 run) differs from `reference` in: logits and
/// gradients of the first step, every loss, and the change of the weights after the kept numbers of
/// steps.
void ObserveTrajectory(const Trajectory& observed, const Trajectory& reference, Limits& limits);

/// Raises the limits of `quantity` by what the change of the weights in `steps` steps differs in;
/// both hold the weights after 0 and after `steps` steps.
void ObserveChange(const Trajectory& observed, const Trajectory& reference, std::int64_t steps,
                   Quantity quantity, Limits& limits);

}  // namespace dlbench::verify
