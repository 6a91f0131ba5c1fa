#include "reference/gemm.h"

#include <algorithm>

#include "reference/parallel.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dlbench::reference {

#if defined(__x86_64__)
extern const GemmKernels kGemmKernels_v1;
extern const GemmKernels kGemmKernels_v3;
extern const GemmKernels kGemmKernels_v4;
#else
extern const GemmKernels kGemmKernels_portable;
#endif

namespace {

// Large enough that packing the operands of a tile is a small part of its work, small enough that
// a layer's output gives work to many cores.
constexpr std::int64_t kTileRows = 512;
constexpr std::int64_t kTileColumns = 256;

#if defined(__x86_64__)
// The levels are those of the x86-64 psABI, section 3.1.1. clang 14 does not know F16C, LZCNT and
// MOVBE by name, so those are asked of the processor itself.
bool HasLevel3() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kMovbe = 1U << 22;
  constexpr unsigned kF16c = 1U << 29;
  constexpr unsigned kLzcnt = 1U << 5;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((ecx & kMovbe) == 0 || (ecx & kF16c) == 0) return false;
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kLzcnt) == 0) return false;
  // These also ask the operating system whether it keeps the wide registers.
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
}

bool HasLevel4() {
  return HasLevel3() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#endif

const GemmKernels& BestKernels() {
  static const GemmKernels* const best = UsableGemmKernels().back();
  return *best;
}

// The part of the product that gives c's tile at (row, column).
template <class Scalar>
Product<Scalar> TileOf(const Product<Scalar>& whole, std::int64_t row, std::int64_t column) {
  Product<Scalar> tile = whole;
  tile.a.data += whole.a.transposed ? row : row * whole.a.stride;
  tile.b.data += whole.b.transposed ? column * whole.b.stride : column;
  tile.c += row * whole.c_stride + column;
  tile.rows = std::min(kTileRows, whole.rows - row);
  tile.columns = std::min(kTileColumns, whole.columns - column);
  return tile;
}

template <class Scalar>
void MultiplyTiles(const Product<Scalar>& product, void (*kernel)(const Product<Scalar>&)) {
  const std::int64_t tile_columns = (product.columns + kTileColumns - 1) / kTileColumns;
  const std::int64_t tile_rows = (product.rows + kTileRows - 1) / kTileRows;
  ParallelFor(tile_rows * tile_columns, 1, [&](std::int64_t index, std::int64_t) {
    const std::int64_t row = index / tile_columns * kTileRows;
    const std::int64_t column = index % tile_columns * kTileColumns;
    kernel(TileOf(product, row, column));
  });
}

}  // namespace

std::vector<const GemmKernels*> UsableGemmKernels() {
#if defined(__x86_64__)
  std::vector<const GemmKernels*> usable = {&kGemmKernels_v1};
  if (HasLevel3()) usable.push_back(&kGemmKernels_v3);
  if (HasLevel4()) usable.push_back(&kGemmKernels_v4);
  return usable;
#else
  return {&kGemmKernels_portable};
#endif
}

void Multiply(const Product<float>& product) { MultiplyTiles(product, BestKernels().float32); }
void Multiply(const Product<double>& product) { MultiplyTiles(product, BestKernels().float64); }

}  // namespace dlbench::reference
