#include "reference/gemm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/parallel.h"
#include "small_network.h"

namespace dlbench::reference {
namespace {

struct Sizes {
  std::int64_t rows, columns, depth;
};
// One element, odd ones, and more than one tile in both directions.
constexpr Sizes kSizes[] = {{1, 1, 1}, {3, 5, 7}, {64, 10, 33}, {17, 300, 129}, {530, 270, 40}};

template <class Scalar>
std::vector<Scalar> Values(const char* name, std::int64_t count) {
  const auto values = Uniform(name, static_cast<std::size_t>(count), 1.0);
  return {values.begin(), values.end()};
}

// Every element by its definition, in long double. The tolerances leave room for rounding alone: a
// wrong or missing term is of order 0.1.
template <class Scalar>
void ExpectProduct(const Product<Scalar>& p, const std::vector<Scalar>& before, double tolerance) {
  double worst = 0;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      const auto at = static_cast<std::size_t>(i * p.c_stride + j);
      long double sum = p.accumulate ? before[at] : Scalar{0};
      for (std::int64_t k = 0; k < p.depth; ++k) {
        const Scalar a = p.a.data[p.a.transposed ? k * p.a.stride + i : i * p.a.stride + k];
        const Scalar b = p.b.data[p.b.transposed ? j * p.b.stride + k : k * p.b.stride + j];
        sum += static_cast<long double>(a) * b;
      }
      worst = std::max(worst, std::abs(static_cast<double>(sum) - static_cast<double>(p.c[at])));
    }
  }
  EXPECT_LT(worst, tolerance) << p.rows << "x" << p.columns << "x" << p.depth;
}

template <class Scalar, class Kernel>
void CheckKernel(Kernel kernel, double tolerance) {
  for (const Sizes& size : kSizes) {
    for (int variant = 0; variant < 12; ++variant) {
      const bool a_transposed = variant % 3 == 1;
      const bool b_transposed = variant % 3 == 2;
      const auto a = Values<Scalar>("a", size.rows * size.depth);
      const auto b = Values<Scalar>("b", size.depth * size.columns);
      auto c = Values<Scalar>("c", size.rows * size.columns);
      const auto before = c;
      const Product<Scalar> product{
          {a.data(), a_transposed ? size.rows : size.depth, a_transposed},
          {b.data(), b_transposed ? size.depth : size.columns, b_transposed},
          c.data(),
          size.columns,
          size.rows,
          size.columns,
          size.depth,
          (variant / 3) % 2 == 0 ? size.depth : 16,
          variant / 6 == 1};
      kernel(product);
      ExpectProduct(product, before, tolerance * std::sqrt(static_cast<double>(size.depth)));
    }
  }
}

TEST(Gemm, EveryUsableKernelComputesTheProduct) {
  for (const GemmKernels* kernels : UsableGemmKernels()) {
    SCOPED_TRACE(kernels->name);
    CheckKernel<double>(kernels->float64, 4e-15);
    CheckKernel<float>(kernels->float32, 2e-6);
  }
}

TEST(Gemm, TilesOnAllCoresComputeTheProduct) {
  CheckKernel<double>([](const Product<double>& product) { Multiply(product); }, 4e-15);
  CheckKernel<float>([](const Product<float>& product) { Multiply(product); }, 2e-6);
}

TEST(Gemm, StartsWithThePlainestKernels) {
  const auto usable = UsableGemmKernels();
  ASSERT_FALSE(usable.empty());
#if defined(__x86_64__)
  EXPECT_STREQ(usable.front()->name, "x86-64-v1");
#endif
}

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (const std::int64_t count : {0, 1, 9, 10, 11, 1000}) {
    std::vector<int> seen(static_cast<std::size_t>(count), 0);
    ParallelFor(count, 10, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(begin % 10, 0);
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(count), 1));
  }
}

}  // namespace
}  // namespace dlbench::reference
