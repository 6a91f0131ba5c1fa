#include "experiment/schedule.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "data/random.h"
#include "verify/gate.h"

namespace dlbench::experiment {
namespace {

/// A permutation of 0..count-1 (Fisher-Yates) from consecutive elements of `stream`.
std::vector<std::size_t> Shuffled(std::size_t count, const data::NamedStream& stream,
                                  std::uint64_t& element) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[stream.Below(element++, i)]);
  }
  return order;
}

}  // namespace

std::vector<std::vector<std::size_t>> RoundOrders(std::size_t arms, std::size_t rounds,
                                                  std::uint64_t seed) {
  const data::NamedStream stream(seed, "round orders");
  std::uint64_t element = 0;
  std::vector<std::vector<std::size_t>> orders;
  std::vector<std::size_t> arm_order;
  std::vector<std::size_t> shifts;
  for (std::size_t round = 0; round < rounds && arms > 0; ++round) {
    if (round % arms == 0) {
      // A new square: permuted symbols, and its rows in random order.
      arm_order = Shuffled(arms, stream, element);
      shifts = Shuffled(arms, stream, element);
    }
    std::vector<std::size_t> order(arms);
    for (std::size_t position = 0; position < arms; ++position) {
      order[position] = arm_order[(position + shifts[round % arms]) % arms];
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

CheckedSteps ChooseCheckedSteps(std::uint64_t seed, std::int64_t configuration, std::int64_t round,
                                bool full, std::int64_t run_steps) {
  using verify::Gate;
  const data::NamedStream stream(seed, fmt::format("checked steps of round {}", round));
  const auto draw = [&](std::uint64_t index, std::int64_t least, std::int64_t most) {
    const auto bound = static_cast<std::uint64_t>(most - least + 1);
    return least + static_cast<std::int64_t>(
                       stream.Below(3 * static_cast<std::uint64_t>(configuration) + index, bound));
  };
  CheckedSteps steps;
  // Two suffice for a light check: each replayed step costs three of the reference's.
  steps.replayed = full ? draw(0, Gate::kLeastReplayedSteps, Gate::kMostReplayedSteps)
                        : Gate::kLeastReplayedSteps;
  if (full && run_steps == 0) {
    steps.state = draw(1, Gate::kLeastStateSteps, Gate::kMostStateSteps);
  } else if (full) {
    steps.middle = draw(2, Gate::kRunSteps + 1, run_steps - steps.replayed);
  }
  return steps;
}

}  // namespace dlbench::experiment
