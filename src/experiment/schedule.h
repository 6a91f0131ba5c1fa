#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlbench::experiment {

/// The order of `arms` launches in every round: randomised cyclic Latin squares. Within each group
/// of `arms` consecutive rounds every arm takes every position exactly once; the order depends on
/// the seed alone (docs/method.md).
std::vector<std::vector<std::size_t>> RoundOrders(std::size_t arms, std::size_t rounds,
                                                  std::uint64_t seed);

}  // namespace dlbench::experiment
