#include "goal.h"

#include <fmt/format.h>

#include <cmath>

namespace dlbench::bench {
namespace {

std::string Word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kMissed:
      return "MISSED";
    case Verdict::kUndecided:
      break;
  }
  return "undecided";
}

std::string Words(const Goal& goal) {
  if (goal.low && goal.high) return fmt::format("{} to {}", *goal.low, *goal.high);
  return goal.low ? fmt::format("at least {}", *goal.low) : fmt::format("at most {}", *goal.high);
}

}  // namespace

Verdict Judge(const stats::Interval& interval, const Goal& goal) {
  if (!interval.low || !interval.high) return Verdict::kUndecided;
  const bool above_low = !goal.low || *interval.low >= *goal.low;
  const bool below_high = !goal.high || *interval.high <= *goal.high;
  if (above_low && below_high) return Verdict::kHolds;
  const bool all_below = goal.low && *interval.high < *goal.low;
  const bool all_above = goal.high && *interval.low > *goal.high;
  return all_below || all_above ? Verdict::kMissed : Verdict::kUndecided;
}

std::optional<stats::Interval> IntervalOfLogs(const std::vector<double>& logs) {
  auto interval = stats::HodgesLehmann(logs);
  if (!interval) return std::nullopt;
  interval->estimate = std::exp(interval->estimate);
  if (interval->low) interval->low = std::exp(*interval->low);
  if (interval->high) interval->high = std::exp(*interval->high);
  return interval;
}

Verdict Report(std::ostream& out, const std::string& name, const stats::Interval& interval,
               const std::string& unit, const Goal& goal) {
  const Verdict verdict = Judge(interval, goal);
  const std::string limits = interval.low && interval.high
                                 ? fmt::format("[{:.4g}, {:.4g}]", *interval.low, *interval.high)
                                 : "[no interval]";
  out << fmt::format("{}: {:.4g} {}{}{}, goal {}: {}\n", name, interval.estimate, limits,
                     unit.empty() ? "" : " ", unit, Words(goal), Word(verdict))
      << std::flush;
  return verdict;
}

int ExitStatus(Verdict verdict) {
  if (verdict == Verdict::kHolds) return 0;
  return verdict == Verdict::kMissed ? 1 : 3;
}

Verdict Worse(Verdict a, Verdict b) {
  if (a == Verdict::kMissed || b == Verdict::kMissed) return Verdict::kMissed;
  return a == Verdict::kUndecided ? a : b;
}

}  // namespace dlbench::bench
