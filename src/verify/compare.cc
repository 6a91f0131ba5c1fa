#include "verify/compare.h"

#include <algorithm>
#include <cmath>

namespace dlbench::verify {
namespace {

/// Sums from which the three figures follow.
class Accumulator {
 public:
  void Add(double a, double r) {
    const double difference = a - r;
    finite_ = finite_ && std::isfinite(a);
    squared_error_ += difference * difference;
    squared_candidate_ += a * a;
    squared_reference_ += r * r;
    product_ += a * r;
    worst_ = std::max(worst_, std::abs(difference));
    ++count_;
  }

  ErrorFigures Figures() const {
    ErrorFigures figures;
    figures.finite = finite_;
    if (!finite_ || count_ == 0) return figures;
    const double error = std::sqrt(squared_error_);
    if (squared_reference_ == 0.0) {
      // Nothing to be relative to: the candidate must be (almost) zero itself.
      figures.norm_relative = error;
      figures.worst_over_rms = worst_;
      figures.cosine_distance = error == 0.0 ? 0.0 : 1.0;
      return figures;
    }
    const double norm = std::sqrt(squared_reference_);
    figures.norm_relative = error / norm;
    figures.worst_over_rms = worst_ / (norm / std::sqrt(static_cast<double>(count_)));
    const double norms = norm * std::sqrt(squared_candidate_);
    figures.cosine_distance = norms == 0.0 ? 1.0 : std::max(0.0, 1.0 - product_ / norms);
    return figures;
  }

 private:
  bool finite_ = true;
  double squared_error_ = 0.0, squared_candidate_ = 0.0, squared_reference_ = 0.0;
  double product_ = 0.0, worst_ = 0.0;
  std::size_t count_ = 0;
};

template <class T>
ErrorFigures CompareValues(std::span<const T> candidate, std::span<const double> reference) {
  Accumulator sums;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    sums.Add(static_cast<double>(candidate[i]), reference[i]);
  }
  return sums.Figures();
}

template <class T>
ErrorFigures CompareChanges(std::span<const T> candidate_start, std::span<const T> candidate_end,
                            std::span<const double> reference_start,
                            std::span<const double> reference_end) {
  Accumulator sums;
  for (std::size_t i = 0; i < reference_end.size(); ++i) {
    const double moved =
        static_cast<double>(candidate_end[i]) - static_cast<double>(candidate_start[i]);
    sums.Add(moved, reference_end[i] - reference_start[i]);
  }
  return sums.Figures();
}

}  // namespace

ErrorFigures Compare(std::span<const float> candidate, std::span<const double> reference) {
  return CompareValues(candidate, reference);
}

ErrorFigures Compare(std::span<const double> candidate, std::span<const double> reference) {
  return CompareValues(candidate, reference);
}

ErrorFigures CompareChange(std::span<const float> candidate_start,
                           std::span<const float> candidate_end,
                           std::span<const double> reference_start,
                           std::span<const double> reference_end) {
  return CompareChanges(candidate_start, candidate_end, reference_start, reference_end);
}

ErrorFigures CompareChange(std::span<const double> candidate_start,
                           std::span<const double> candidate_end,
                           std::span<const double> reference_start,
                           std::span<const double> reference_end) {
  return CompareChanges(candidate_start, candidate_end, reference_start, reference_end);
}

ErrorFigures Larger(const ErrorFigures& a, const ErrorFigures& b) {
  ErrorFigures larger;
  larger.norm_relative = std::max(a.norm_relative, b.norm_relative);
  larger.worst_over_rms = std::max(a.worst_over_rms, b.worst_over_rms);
  larger.cosine_distance = std::max(a.cosine_distance, b.cosine_distance);
  larger.finite = a.finite && b.finite;
  return larger;
}

}  // namespace dlbench::verify
