#include <algorithm>
#include <numeric>

#include "stats/stats.h"

namespace dlbench::stats {
namespace {

/// Indices of `p_values`, smallest value first.
std::vector<std::size_t> Ascending(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  return order;
}

}  // namespace

std::vector<bool> Holm(std::span<const double> p_values, double alpha) {
  std::vector<bool> rejected(p_values.size(), false);
  std::size_t left = p_values.size();
  for (const std::size_t index : Ascending(p_values)) {
    if (!(p_values[index] <= alpha / static_cast<double>(left))) break;
    rejected[index] = true;
    --left;
  }
  return rejected;
}

std::vector<double> BenjaminiHochberg(std::span<const double> p_values) {
  const std::vector<std::size_t> order = Ascending(p_values);
  std::vector<double> q_values(p_values.size(), 1.0);
  double smallest = 1.0;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t index = order[rank - 1];
    const double scaled = static_cast<double>(order.size()) * p_values[index];
    smallest = std::min(smallest, scaled / static_cast<double>(rank));
    q_values[index] = smallest;
  }
  return q_values;
}

}  // namespace dlbench::stats
