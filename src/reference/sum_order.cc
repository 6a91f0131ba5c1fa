#include "reference/sum_order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "data/random.h"

namespace dlbench::reference {
namespace {

// Block lengths of orders 1, 2, 3 ...: from those of vector registers to those of caches, as the
// kernels of real frameworks have.
constexpr std::array<std::int64_t, 8> kBlocks = {64, 24, 256, 96, 16, 384, 40, 160};

}  // namespace

const SumOrder& SumOrders::For(std::int64_t terms) {
  const auto [entry, is_new] = by_terms_.try_emplace(terms);
  SumOrder& sum = entry->second;
  if (!is_new) return sum;
  sum.block = std::max<std::int64_t>(terms, 1);
  if (order_ == 0) return sum;
  sum.block = kBlocks[static_cast<std::size_t>(order_ - 1) % kBlocks.size()];
  sum.permutation.resize(static_cast<std::size_t>(terms));
  std::iota(sum.permutation.begin(), sum.permutation.end(), 0);
  const data::NamedStream stream(static_cast<std::uint64_t>(order_),
                                 "summation order/" + std::to_string(terms));
  for (std::size_t i = sum.permutation.size(); i > 1; --i) {
    std::swap(sum.permutation[i - 1], sum.permutation[stream.Below(i - 1, i)]);
  }
  return sum;
}

}  // namespace dlbench::reference
