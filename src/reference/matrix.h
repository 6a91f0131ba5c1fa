#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlbench::reference {

/// Rows of equal length, row-major. In the engine a row is one sample.
template <class Scalar>
struct Matrix {
  Matrix() = default;
  Matrix(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count),
        columns(column_count),
        values(static_cast<std::size_t>(row_count * column_count)) {}

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Scalar> values;

  /// First element of row `index`.
  Scalar* row(std::int64_t index) { return values.data() + index * columns; }
  const Scalar* row(std::int64_t index) const { return values.data() + index * columns; }
};

}  // namespace dlbench::reference
