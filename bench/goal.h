#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "stats/stats.h"

namespace dlbench::bench {

/// Limits that a figure should keep; absent means that side is free.
struct Goal {
  std::optional<double> low;
  std::optional<double> high;
};

/// What an interval says about a goal.
enum class Verdict {
  kHolds,      ///< All of it lies within.
  kMissed,     ///< All of it lies outside.
  kUndecided,  ///< It lies across a limit, or there is no interval: measure more, or later.
};

/// Compares `interval` with `goal`.
Verdict Judge(const stats::Interval& interval, const Goal& goal);

/// Interval of the values that belong to the logarithms in `logs`; nothing for no values.
std::optional<stats::Interval> IntervalOfLogs(const std::vector<double>& logs);

/// Prints "NAME: 1.002 [0.998, 1.006] UNIT, goal 0.98 to 1.02: holds".
Verdict Report(std::ostream& out, const std::string& name, const stats::Interval& interval,
               const std::string& unit, const Goal& goal);

/// 0 where the goal holds, 1 where it is missed, 3 where nothing is decided: as dlbench itself.
int ExitStatus(Verdict verdict);
/// The worse of two: missed before undecided before holds.
Verdict Worse(Verdict a, Verdict b);

}  // namespace dlbench::bench
