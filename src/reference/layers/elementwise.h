#pragma once

#include <cstdint>

#include "reference/matrix.h"
#include "reference/parallel.h"

namespace dlbench::reference {

/// out = f(in), element by element, on all cores. `f` takes and returns Scalar.
template <class Scalar, class Function>
void Map(const Matrix<Scalar>& in, Matrix<Scalar>& out, Function f) {
  constexpr std::int64_t kPiece = 1 << 14;  // tens of microseconds of exp() and the like
  ParallelFor(static_cast<std::int64_t>(in.values.size()), kPiece,
              [&](std::int64_t begin, std::int64_t end) {
                const Scalar* from = in.values.data();
                Scalar* to = out.values.data();
                for (std::int64_t i = begin; i < end; ++i) to[i] = f(from[i]);
              });
}

/// out = f(a, b), element by element, on all cores.
template <class Scalar, class Function>
void Map(const Matrix<Scalar>& a, const Matrix<Scalar>& b, Matrix<Scalar>& out, Function f) {
  constexpr std::int64_t kPiece = 1 << 16;
  ParallelFor(static_cast<std::int64_t>(a.values.size()), kPiece,
              [&](std::int64_t begin, std::int64_t end) {
                const Scalar* left = a.values.data();
                const Scalar* right = b.values.data();
                Scalar* to = out.values.data();
                for (std::int64_t i = begin; i < end; ++i) to[i] = f(left[i], right[i]);
              });
}

}  // namespace dlbench::reference
