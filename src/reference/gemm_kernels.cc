// The engine's only use of Eigen. This file is compiled once per instruction set with
//   -DDLBENCH_GEMM_LEVEL=v3  -DDLBENCH_GEMM_NAME="x86-64-v3"  -DEigen=dlbench_eigen_v3
// so that every symbol of Eigen lives in a namespace of its own and the linker cannot mix code for
// different processors (tests/unit/reference/gemm_symbols.sh looks at the object files).
#include <Eigen/Core>

#include "reference/gemm.h"

#define DLBENCH_JOIN_INNER(a, b) a##b
#define DLBENCH_JOIN(a, b) DLBENCH_JOIN_INNER(a, b)

namespace dlbench::reference {
namespace {

template <class Scalar>
using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using ConstMap = Eigen::Map<const RowMajor<Scalar>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using MutableMap = Eigen::Map<RowMajor<Scalar>, 0, Eigen::OuterStride<>>;

template <class Scalar, class A, class B>
void Apply(MutableMap<Scalar>& c, const A& a, const B& b, bool accumulate) {
  if (accumulate) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
  }
}

// One block of the sum: terms [from, from + depth).
template <class Scalar>
void MultiplyBlock(const Product<Scalar>& p, std::ptrdiff_t from, std::ptrdiff_t depth,
                   bool accumulate) {
  const Eigen::OuterStride<> a_stride(p.a.stride);
  const Eigen::OuterStride<> b_stride(p.b.stride);
  const Scalar* a_data = p.a.data + (p.a.transposed ? from * p.a.stride : from);
  const Scalar* b_data = p.b.data + (p.b.transposed ? from : from * p.b.stride);
  MutableMap<Scalar> c(p.c, p.rows, p.columns, Eigen::OuterStride<>(p.c_stride));
  if (p.a.transposed) {
    const ConstMap<Scalar> a(a_data, depth, p.rows, a_stride);
    const ConstMap<Scalar> b(b_data, depth, p.columns, b_stride);
    Apply(c, a.transpose(), b, accumulate);
  } else if (p.b.transposed) {
    const ConstMap<Scalar> a(a_data, p.rows, depth, a_stride);
    const ConstMap<Scalar> b(b_data, p.columns, depth, b_stride);
    Apply(c, a, b.transpose(), accumulate);
  } else {
    const ConstMap<Scalar> a(a_data, p.rows, depth, a_stride);
    const ConstMap<Scalar> b(b_data, depth, p.columns, b_stride);
    Apply(c, a, b, accumulate);
  }
}

template <class Scalar>
void MultiplyAll(const Product<Scalar>& p) {
  bool accumulate = p.accumulate;
  for (std::ptrdiff_t from = 0; from < p.depth; from += p.block) {
    const std::ptrdiff_t rest = p.depth - from;
    MultiplyBlock(p, from, rest < p.block ? rest : p.block, accumulate);
    accumulate = true;
  }
}

}  // namespace

extern const GemmKernels DLBENCH_JOIN(kGemmKernels_, DLBENCH_GEMM_LEVEL);
const GemmKernels DLBENCH_JOIN(kGemmKernels_, DLBENCH_GEMM_LEVEL) = {
    DLBENCH_GEMM_NAME, &MultiplyAll<float>, &MultiplyAll<double>};

}  // namespace dlbench::reference
