#include "machine/fma.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dlbench::machine {
namespace {

// Independent sums. Today's cores start two multiply-adds a cycle, each taking four to five cycles,
// so ten would do; more than 13 would not fit the 16 registers of AVX2 beside the two operands.
constexpr int kSums = 12;
// Every sum tends to kAdd / (1 - kScale) = 1: no overflow, no denormal numbers, no special cases.
constexpr double kScale = 0.9921875;
constexpr double kAdd = 0.0078125;

/// Vector of `Bytes` bytes by the compilers' own extension.
template <class T, int Bytes>
struct Vector {
  using Type [[gnu::vector_size(Bytes)]] = T;
};

/// Multiply, then add, in 16-byte vectors: every x86-64 and ARMv8 processor has them.
template <class T>
double RunPortable(std::uint64_t loops) {
  using V = typename Vector<T, 16>::Type;
  constexpr int kLanes = 16 / static_cast<int>(sizeof(T));
  V sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = V{} + static_cast<T>(i) / 16;
  const V scale = V{} + static_cast<T>(kScale);
  const V add = V{} + static_cast<T>(kAdd);
  for (std::uint64_t loop = 0; loop < loops; ++loop) {
    for (V& sum : sums) sum = sum * scale + add;
  }
  double total = 0;
  for (const V& sum : sums) {
    for (int lane = 0; lane < kLanes; ++lane) total += static_cast<double>(sum[lane]);
  }
  return total;
}

#if defined(__x86_64__)

// NOLINTBEGIN(bugprone-macro-parentheses): types and function names take no parentheses.
// One kernel per width and precision; a template cannot carry the target attribute of its
// intrinsics through every compiler, hence the macro.
#define DLBENCH_FMA_KERNEL(name, isa, T, V, prefix, suffix)                                   \
  __attribute__((target(isa))) double name(std::uint64_t loops) {                             \
    constexpr int kLanes = static_cast<int>(sizeof(V) / sizeof(T));                           \
    V sums[kSums];                                                                            \
    for (int i = 0; i < kSums; ++i) sums[i] = prefix##_set1_##suffix(static_cast<T>(i) / 16); \
    const V scale = prefix##_set1_##suffix(static_cast<T>(kScale));                           \
    const V add = prefix##_set1_##suffix(static_cast<T>(kAdd));                               \
    for (std::uint64_t loop = 0; loop < loops; ++loop) {                                      \
      for (V & sum : sums) sum = prefix##_fmadd_##suffix(sum, scale, add);                    \
    }                                                                                         \
    double total = 0;                                                                         \
    for (const V& sum : sums) {                                                               \
      T lanes[kLanes];                                                                        \
      prefix##_storeu_##suffix(lanes, sum);                                                   \
      for (const T lane : lanes) total += static_cast<double>(lane);                          \
    }                                                                                         \
    return total;                                                                             \
  }

DLBENCH_FMA_KERNEL(RunAvx2Float, "avx2,fma", float, __m256, _mm256, ps)
DLBENCH_FMA_KERNEL(RunAvx2Double, "avx2,fma", double, __m256d, _mm256, pd)
DLBENCH_FMA_KERNEL(RunAvx512Float, "avx512f", float, __m512, _mm512, ps)
DLBENCH_FMA_KERNEL(RunAvx512Double, "avx512f", double, __m512d, _mm512, pd)
#undef DLBENCH_FMA_KERNEL

// AVX without multiply-add (2011 and 2012): twice the portable width, one multiply and one add.
#define DLBENCH_AVX_KERNEL(name, T, V, suffix)                                              \
  __attribute__((target("avx"))) double name(std::uint64_t loops) {                         \
    constexpr int kLanes = static_cast<int>(sizeof(V) / sizeof(T));                         \
    V sums[kSums];                                                                          \
    for (int i = 0; i < kSums; ++i) sums[i] = _mm256_set1_##suffix(static_cast<T>(i) / 16); \
    const V scale = _mm256_set1_##suffix(static_cast<T>(kScale));                           \
    const V add = _mm256_set1_##suffix(static_cast<T>(kAdd));                               \
    for (std::uint64_t loop = 0; loop < loops; ++loop) {                                    \
      for (V & sum : sums) sum = _mm256_add_##suffix(_mm256_mul_##suffix(sum, scale), add); \
    }                                                                                       \
    double total = 0;                                                                       \
    for (const V& sum : sums) {                                                             \
      T lanes[kLanes];                                                                      \
      _mm256_storeu_##suffix(lanes, sum);                                                   \
      for (const T lane : lanes) total += static_cast<double>(lane);                        \
    }                                                                                       \
    return total;                                                                           \
  }

DLBENCH_AVX_KERNEL(RunAvxFloat, float, __m256, ps)
DLBENCH_AVX_KERNEL(RunAvxDouble, double, __m256d, pd)
#undef DLBENCH_AVX_KERNEL
// NOLINTEND(bugprone-macro-parentheses)

#endif

/// Multiplications and additions of one round with vectors of `bytes`.
double FlopPerLoop(int bytes, bool float64) { return 2.0 * kSums * bytes / (float64 ? 8 : 4); }

}  // namespace

std::vector<FmaKernel> FmaKernels(bool float64) {
  std::vector<FmaKernel> kernels{
      {"portable", float64 ? RunPortable<double> : RunPortable<float>, FlopPerLoop(16, float64)}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx") != 0) {
    kernels.push_back({"avx", float64 ? RunAvxDouble : RunAvxFloat, FlopPerLoop(32, float64)});
  }
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    kernels.push_back({"avx2", float64 ? RunAvx2Double : RunAvx2Float, FlopPerLoop(32, float64)});
  }
  if (__builtin_cpu_supports("avx512f") != 0) {
    kernels.push_back(
        {"avx512f", float64 ? RunAvx512Double : RunAvx512Float, FlopPerLoop(64, float64)});
  }
#endif
  return kernels;
}

}  // namespace dlbench::machine
