#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/engine.h"
#include "reference/gemm.h"
#include "reference/matrix.h"
#include "reference/parallel.h"
#include "reference/sum_order.h"

namespace dlbench::reference {

/// Forms every sum of the engine, in one arithmetic: the order of the terms and the precision of a
/// product's operands are decided here alone. Not thread-safe (it uses threads itself).
template <class Scalar>
class Sums {
 public:
  explicit Sums(Arithmetic arithmetic);

  /// c = a b^T, a [m, k], b [n, k]; with `accumulate` c's old values are the first term.
  void TimesTransposed(const Matrix<Scalar>& a, const Matrix<Scalar>& b, Matrix<Scalar>& c,
                       bool accumulate = false);
  /// c = a b, a [m, k], b [k, n]; with `accumulate` c's old values are the first term.
  void Times(const Matrix<Scalar>& a, const Matrix<Scalar>& b, Matrix<Scalar>& c,
             bool accumulate = false);
  /// c = a^T b, a [k, m], b [k, n].
  void TransposedTimes(const Matrix<Scalar>& a, const Matrix<Scalar>& b, Matrix<Scalar>& c);
  /// Sum of all rows of `a`, column by column.
  void AddRows(const Matrix<Scalar>& a, std::span<Scalar> sums);
  /// Sum of the terms.
  Scalar Add(std::span<const Scalar> terms);
  /// sums[c] = the sum of term(value, row, index) over all values of channel c, with the index
  /// within the row. A row holds `channels` parts of equal length, one after the other. `term` is
  /// called on several threads.
  template <class Term>
  void AddChannels(const Matrix<Scalar>& a, std::int64_t channels, std::span<Scalar> sums,
                   Term term) {
    const std::int64_t part = a.columns / channels;
    const SumOrder& order = orders_.For(a.rows * part);
    ParallelFor(channels, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<Scalar> terms(static_cast<std::size_t>(a.rows * part));
      for (std::int64_t channel = begin; channel < end; ++channel) {
        Scalar* next = terms.data();
        for (std::int64_t row = 0; row < a.rows; ++row) {
          const Scalar* values = a.row(row);
          for (std::int64_t i = channel * part; i < (channel + 1) * part; ++i) {
            *next++ = term(values[i], row, i);
          }
        }
        sums[static_cast<std::size_t>(channel)] = AddInOrder(terms, order);
      }
    });
  }
  /// Whether a dense layer's sum begins with its bias (odd orders) instead of ending with it.
  bool BiasFirst() const { return orders_.order() % 2 == 1; }

 private:
  enum class Axis { kRows, kColumns };  // along which the product sums

  static Scalar AddInOrder(std::span<const Scalar> terms, const SumOrder& order);

  const Matrix<Scalar>& Prepare(const Matrix<Scalar>& matrix, Axis axis, const SumOrder& order,
                                Matrix<Scalar>& scratch) const;

  SumOrders orders_;
  int dropped_bits_;
  Matrix<Scalar> scratch_a_;
  Matrix<Scalar> scratch_b_;
};

extern template class Sums<float>;
extern template class Sums<double>;

}  // namespace dlbench::reference
