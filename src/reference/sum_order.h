#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace dlbench::reference {

/// In which order a sum's terms are added: term permutation[0], permutation[1] ... in blocks, whose
/// partial sums are then added up.
struct SumOrder {
  std::vector<std::int64_t> permutation;  ///< Empty for the order 0, 1, 2 ...
  std::int64_t block = 1;                 ///< Terms per block, at least 1.
};

/// The orders of all sums of one arithmetic, by number of terms. Not thread-safe.
class SumOrders {
 public:
  /// Order 0 leaves every sum alone; each other one permutes every sum (seeded by its number) and
  /// cuts it into blocks of its own length.
  explicit SumOrders(int order) : order_(order) {}

  int order() const { return order_; }
  /// The order of a sum of `terms` terms; valid while this object lives.
  const SumOrder& For(std::int64_t terms);

 private:
  int order_;
  std::map<std::int64_t, SumOrder> by_terms_;
};

}  // namespace dlbench::reference
