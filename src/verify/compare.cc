#include "verify/compare.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/parallel.h"

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

  void Merge(const Accumulator& other) {
    finite_ = finite_ && other.finite_;
    squared_error_ += other.squared_error_;
    squared_candidate_ += other.squared_candidate_;
    squared_reference_ += other.squared_reference_;
    product_ += other.product_;
    worst_ = std::max(worst_, other.worst_);
    count_ += other.count_;
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

/// Figures over `count` elements, of which `add(i, sums)` adds the i-th; on all cores. Always the
/// same pieces in the same order, so the same figures whatever the number of cores.
template <class Add>
ErrorFigures FiguresOver(std::size_t count, const Add& add) {
  constexpr std::int64_t kPiece = 1 << 18;
  const auto elements = static_cast<std::int64_t>(count);
  std::vector<Accumulator> pieces((count + kPiece - 1) / kPiece);
  reference::ParallelFor(elements, kPiece, [&](std::int64_t begin, std::int64_t end) {
    Accumulator sums;  // Not in place: neighbours would share cache lines.
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      add(i, sums);
    }
    pieces[static_cast<std::size_t>(begin / kPiece)] = sums;
  });
  Accumulator all;
  for (const Accumulator& piece : pieces) all.Merge(piece);
  return all.Figures();
}

template <class T>
ErrorFigures CompareValues(std::span<const T> candidate, std::span<const double> reference) {
  return FiguresOver(reference.size(), [&](std::size_t i, Accumulator& sums) {
    sums.Add(static_cast<double>(candidate[i]), reference[i]);
  });
}

template <class T>
ErrorFigures CompareChanges(std::span<const T> candidate_start, std::span<const T> candidate_end,
                            std::span<const double> reference_start,
                            std::span<const double> reference_end) {
  return FiguresOver(reference_end.size(), [&](std::size_t i, Accumulator& sums) {
    const double moved =
        static_cast<double>(candidate_end[i]) - static_cast<double>(candidate_start[i]);
    sums.Add(moved, reference_end[i] - reference_start[i]);
  });
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
