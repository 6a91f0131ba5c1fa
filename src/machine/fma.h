#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dlbench::machine {

/// A loop of multiply-adds on registers alone: no load, no store, nothing to wait for but the
/// arithmetic units. Nothing that a framework computes can be faster.
struct FmaKernel {
  std::string name;  ///< "avx512f".
  /// Does `loops` rounds and returns a value that depends on all of them.
  double (*run)(std::uint64_t loops) = nullptr;
  double flop_per_loop = 0;
};
/// The kernels that this processor runs, of the given precision; at least the portable one.
std::vector<FmaKernel> FmaKernels(bool float64);

}  // namespace dlbench::machine
