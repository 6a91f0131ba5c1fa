#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace dlbench::report {

/// Whether a row may show any timing: its status is timed, disturbed or imprecise, and its estimate
/// is a positive finite number. Every writer asks here.
bool ShowsTiming(const ResultRow& row);
/// The value if it is finite and `row` shows timings, else nothing.
std::optional<double> Shown(const ResultRow& row, const std::optional<double>& value);
/// Why a row has no timing: "withheld: unequal", "not available".
std::string WithheldReason(const ResultRow& row);
/// True for a mode that says nothing: empty or "unknown".
bool UnknownMode(const ResultRow& row);

/// A comparison that may be shown, or the reason why it is not.
struct ShownComparison {
  const ComparisonRow* row = nullptr;
  std::string withheld;  ///< Empty where it may be shown.
};
/// All comparisons of the report; withheld where an arm shows no timing, has an index out of range,
/// or where the mode of one arm alone is unknown (C06).
std::vector<ShownComparison> ShownComparisons(const Report& report);

/// "Fashion-MNIST", with " (synthetic)" wherever the data are and the name does not say so.
std::string DataLabel(const ResultRow& row);
/// "FCN-R", with the variant if any.
std::string NetworkLabel(const ResultRow& row);
/// "small change" for "small_change".
std::string VerdictText(measure::VerdictWord word);

/// Decimals with which a number is printed: the interval's half-width has two digits, the estimate
/// at least three and at most six; three digits where there is no interval.
int Decimals(double estimate, const std::optional<double>& low, const std::optional<double>& high);
/// `value` with `decimals` decimals and a point, whatever the locale. Negative decimals count as 0:
/// a figure rounded to tens would not show which digits it has.
std::string Fixed(double value, int decimals);

/// The unit of all step times of a report, chosen once from the fastest.
struct TimeUnit {
  const char* name = "ms";
  double per_second = 1e3;
};
TimeUnit ChooseUnit(const Report& report);

/// Decimals of a ratio and its interval: two to four.
int RatioDecimals(const measure::Comparison& comparison);
/// "1.31x to 1.42x", "1.31x" without an interval.
std::string RatioText(const measure::Comparison& comparison);
/// Seen from the other arm: 1 / ratio, and faster for slower.
measure::Comparison Inverted(const measure::Comparison& comparison);
/// `text` of at most `limit` bytes; the rest is cut, not inside a character, with a mark that says
/// how much.
std::string Cut(std::string_view text, std::size_t limit);

}  // namespace dlbench::report
