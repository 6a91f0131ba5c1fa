#include "reference/sums.h"

#include <algorithm>

#include "reference/parallel.h"
#include "reference/rounding.h"

namespace dlbench::reference {
namespace {

constexpr std::int64_t kPieceElements = 1 << 16;  // work per piece well above a thread's start

template <class Scalar>
Operand<Scalar> OperandOf(const Matrix<Scalar>& matrix, bool transposed) {
  return {matrix.values.data(), matrix.columns, transposed};
}

// Copies `source` with its rows in the given order.
template <class Scalar>
void CopyRow(const Matrix<Scalar>& source, std::int64_t row, bool by_rows, const SumOrder& order,
             Scalar* target) {
  if (order.permutation.empty()) {
    std::copy_n(source.row(row), source.columns, target);
  } else if (by_rows) {
    const std::int64_t from = order.permutation[static_cast<std::size_t>(row)];
    std::copy_n(source.row(from), source.columns, target);
  } else {
    const Scalar* values = source.row(row);
    for (const std::int64_t from : order.permutation) *target++ = values[from];
  }
}

}  // namespace

template <class Scalar>
Sums<Scalar>::Sums(Arithmetic arithmetic)
    : orders_(arithmetic.summation_order), dropped_bits_(DroppedBits(arithmetic.precision)) {}

// The operand itself, or its copy in `scratch` with the sum's axis permuted and values rounded.
template <class Scalar>
const Matrix<Scalar>& Sums<Scalar>::Prepare(const Matrix<Scalar>& matrix, Axis axis,
                                            const SumOrder& order, Matrix<Scalar>& scratch) const {
  if (order.permutation.empty() && dropped_bits_ == 0) return matrix;
  scratch.rows = matrix.rows;
  scratch.columns = matrix.columns;
  scratch.values.resize(matrix.values.size());
  const std::int64_t piece = std::max<std::int64_t>(1, kPieceElements / matrix.columns);
  ParallelFor(matrix.rows, piece, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      Scalar* target = scratch.row(row);
      CopyRow(matrix, row, axis == Axis::kRows, order, target);
      if (dropped_bits_ == 0) continue;
      for (std::int64_t j = 0; j < matrix.columns; ++j) {
        target[j] = RoundOperand(static_cast<float>(target[j]), dropped_bits_);
      }
    }
  });
  return scratch;
}

template <class Scalar>
void Sums<Scalar>::TimesTransposed(const Matrix<Scalar>& a, const Matrix<Scalar>& b,
                                   Matrix<Scalar>& c, bool accumulate) {
  const SumOrder& order = orders_.For(a.columns);
  const auto& left = Prepare(a, Axis::kColumns, order, scratch_a_);
  const auto& right = Prepare(b, Axis::kColumns, order, scratch_b_);
  Multiply(Product<Scalar>{OperandOf(left, false), OperandOf(right, true), c.values.data(),
                           c.columns, c.rows, c.columns, a.columns, order.block, accumulate});
}

template <class Scalar>
void Sums<Scalar>::Times(const Matrix<Scalar>& a, const Matrix<Scalar>& b, Matrix<Scalar>& c,
                         bool accumulate) {
  const SumOrder& order = orders_.For(a.columns);
  const auto& left = Prepare(a, Axis::kColumns, order, scratch_a_);
  const auto& right = Prepare(b, Axis::kRows, order, scratch_b_);
  Multiply(Product<Scalar>{OperandOf(left, false), OperandOf(right, false), c.values.data(),
                           c.columns, c.rows, c.columns, a.columns, order.block, accumulate});
}

template <class Scalar>
void Sums<Scalar>::TransposedTimes(const Matrix<Scalar>& a, const Matrix<Scalar>& b,
                                   Matrix<Scalar>& c) {
  const SumOrder& order = orders_.For(a.rows);
  const auto& left = Prepare(a, Axis::kRows, order, scratch_a_);
  const auto& right = Prepare(b, Axis::kRows, order, scratch_b_);
  Multiply(Product<Scalar>{OperandOf(left, true), OperandOf(right, false), c.values.data(),
                           c.columns, c.rows, c.columns, a.rows, order.block, false});
}

template <class Scalar>
void Sums<Scalar>::AddRows(const Matrix<Scalar>& a, std::span<Scalar> sums) {
  const SumOrder& order = orders_.For(a.rows);
  const std::int64_t piece = std::max<std::int64_t>(1, kPieceElements / a.rows);
  ParallelFor(a.columns, piece, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Scalar> partial(static_cast<std::size_t>(end - begin));
    Scalar* total = sums.data() + begin;
    std::fill_n(total, partial.size(), Scalar{0});
    for (std::int64_t from = 0; from < a.rows; from += order.block) {
      std::fill(partial.begin(), partial.end(), Scalar{0});
      for (std::int64_t i = from; i < std::min(a.rows, from + order.block); ++i) {
        const std::int64_t row =
            order.permutation.empty() ? i : order.permutation[static_cast<std::size_t>(i)];
        const Scalar* values = a.row(row) + begin;
        for (std::size_t j = 0; j < partial.size(); ++j) partial[j] += values[j];
      }
      for (std::size_t j = 0; j < partial.size(); ++j) total[j] += partial[j];
    }
  });
}

template <class Scalar>
Scalar Sums<Scalar>::AddInOrder(std::span<const Scalar> terms, const SumOrder& order) {
  const auto block = static_cast<std::size_t>(order.block);
  Scalar total{0};
  for (std::size_t from = 0; from < terms.size(); from += block) {
    Scalar partial{0};
    for (std::size_t i = from; i < std::min(terms.size(), from + block); ++i) {
      const std::size_t term =
          order.permutation.empty() ? i : static_cast<std::size_t>(order.permutation[i]);
      partial += terms[term];
    }
    total += partial;
  }
  return total;
}

template <class Scalar>
Scalar Sums<Scalar>::Add(std::span<const Scalar> terms) {
  return AddInOrder(terms, orders_.For(static_cast<std::int64_t>(terms.size())));
}

template class Sums<float>;
template class Sums<double>;

}  // namespace dlbench::reference
