#include "experiment/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/random.h"
#include "verify/gate.h"

namespace dlbench::experiment {
namespace {

/// Least lengths, whatever the step time: two blocks of five steps, ten steps against the
/// reference.
constexpr std::int64_t kLeastTimedSteps = 10;
constexpr std::int64_t kLeastWarmupSteps = 10;
/// Most lengths: a step's record takes up to 66 bytes of an answer of at most 16 MiB.
constexpr std::int64_t kMostTimedSteps = 150'000;
constexpr std::int64_t kMostWarmupSteps = 50'000;

/// Steps of `step_seconds` each that fill `seconds`, within the limits.
std::int64_t StepsFor(double seconds, double step_seconds, std::int64_t least, std::int64_t most) {
  const double steps = std::ceil(seconds / step_seconds);
  // Compared before the conversion, which a number out of range would make undefined.
  if (steps >= static_cast<double>(most)) return most;
  return std::max(least, static_cast<std::int64_t>(steps));
}

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

LaunchLength LengthFor(const std::vector<double>& step_seconds, double warmup_seconds,
                       double timed_seconds) {
  const auto [fastest, slowest] = std::minmax_element(step_seconds.begin(), step_seconds.end());
  return {StepsFor(warmup_seconds, *fastest, kLeastWarmupSteps, kMostWarmupSteps),
          StepsFor(timed_seconds, *slowest, kLeastTimedSteps, kMostTimedSteps)};
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
