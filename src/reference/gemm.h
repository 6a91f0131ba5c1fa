#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dlbench::reference {

/// A row-major matrix of somebody else's, used as it is or transposed.
template <class Scalar>
struct Operand {
  const Scalar* data = nullptr;
  std::int64_t stride = 0;  ///< Elements from one stored row to the next.
  bool transposed = false;
};

/// One product c (+)= a b, with a [rows, depth], b [depth, columns], c [rows, columns].
template <class Scalar>
struct Product {
  Operand<Scalar> a;
  Operand<Scalar> b;
  Scalar* c = nullptr;
  std::int64_t c_stride = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  std::int64_t block = 0;   ///< Sums run over `block` terms; the partial sums are then added up.
  bool accumulate = false;  ///< Whether c's old values are part of the sum.
};

/// The product's kernels for one instruction set.
struct GemmKernels {
  const char* name;  ///< "x86-64-v3".
  void (*float32)(const Product<float>&);
  void (*float64)(const Product<double>&);
};

/// The kernels that this processor can run, plainest first; never empty.
std::vector<const GemmKernels*> UsableGemmKernels();

/// Computes the product on all cores with the best usable kernels. The result does not depend on
/// the number of threads: c is cut into fixed tiles, and each tile sums in one fixed order.
void Multiply(const Product<float>& product);
void Multiply(const Product<double>& product);

}  // namespace dlbench::reference
