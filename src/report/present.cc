#include "report/present.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dlbench::report {
namespace {

bool MayShow(const std::string& status) {
  return status == "timed" || status == "disturbed" || status == "imprecise";
}

/// Position of the first digit: 1 for 12.3, 0 for 1.23, -2 for 0.0123.
int Magnitude(double value) { return static_cast<int>(std::floor(std::log10(value))); }

std::optional<double> Inverse(const std::optional<double>& value) {
  return value && *value != 0.0 ? std::optional(1.0 / *value) : std::nullopt;
}

bool Finite(const measure::Comparison& comparison) {
  return std::isfinite(comparison.ratio) && comparison.ratio > 0.0 &&
         std::isfinite(comparison.low.value_or(1.0)) &&
         std::isfinite(comparison.high.value_or(1.0));
}

}  // namespace

bool ShowsTiming(const ResultRow& row) {
  return MayShow(row.status) && row.step_time && std::isfinite(row.step_time->estimate) &&
         row.step_time->estimate > 0.0;
}

std::optional<double> Shown(const ResultRow& row, const std::optional<double>& value) {
  return ShowsTiming(row) && value && std::isfinite(*value) ? value : std::nullopt;
}

std::string WithheldReason(const ResultRow& row) {
  if (!MayShow(row.status)) return "withheld: " + row.status;
  if (row.step_time && !ShowsTiming(row)) return "not a finite time";
  return "not available";
}

bool UnknownMode(const ResultRow& row) {
  return row.mode_label.empty() || row.mode_label == "unknown";
}

std::vector<ShownComparison> ShownComparisons(const Report& report) {
  std::vector<ShownComparison> shown;
  for (const ComparisonRow& row : report.comparisons) {
    ShownComparison comparison{&row, ""};
    if (row.a_index >= report.results.size() || row.b_index >= report.results.size()) {
      comparison.withheld = "withheld: no such result";
    } else {
      const ResultRow& a = report.results[row.a_index];
      const ResultRow& b = report.results[row.b_index];
      if (!ShowsTiming(a) || !ShowsTiming(b)) {
        const bool first = !ShowsTiming(a);
        comparison.withheld =
            (first ? row.a : row.b) + " has no timing (" + WithheldReason(first ? a : b) + ")";
      } else if (UnknownMode(a) != UnknownMode(b)) {
        comparison.withheld =
            "not ranked: the mode of " + (UnknownMode(a) ? row.a : row.b) + " is unknown";
      } else if (!Finite(row.comparison)) {
        comparison.withheld = "not a finite ratio";
      }
    }
    shown.push_back(std::move(comparison));
  }
  return shown;
}

std::string DataLabel(const ResultRow& row) {
  const bool said = row.data.find("synthetic") != std::string::npos;
  return row.synthetic && !said ? row.data + " (synthetic)" : row.data;
}

std::string NetworkLabel(const ResultRow& row) {
  const std::string& name = row.network_title.empty() ? row.network : row.network_title;
  return row.variant.empty() ? name : name + " (" + row.variant + ")";
}

std::string VerdictText(measure::VerdictWord word) {
  std::string text = measure::ToString(word);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

int Decimals(double estimate, const std::optional<double>& low, const std::optional<double>& high) {
  constexpr int kLeastDigits = 3;
  constexpr int kMostDigits = 6;
  if (!std::isfinite(estimate) || estimate == 0.0) return 0;
  const int magnitude = Magnitude(std::fabs(estimate));
  int digits = kLeastDigits;
  if (low && high && std::isfinite(*low) && std::isfinite(*high)) {
    const double half_width = (*high - *low) / 2;
    // Two digits of the half-width: its own magnitude and one more.
    digits = half_width > 0.0 ? magnitude - Magnitude(half_width) + 2 : kMostDigits;
  }
  return std::clamp(digits, kLeastDigits, kMostDigits) - 1 - magnitude;
}

std::string Fixed(double value, int decimals) {
  return fmt::format("{:.{}f}", value, std::max(decimals, 0));
}

TimeUnit ChooseUnit(const Report& report) {
  std::optional<double> fastest;
  for (const ResultRow& row : report.results) {
    if (!ShowsTiming(row)) continue;
    fastest = std::min(fastest.value_or(row.step_time->estimate), row.step_time->estimate);
  }
  if (fastest && *fastest < 1e-3) return {"us", 1e6};
  if (fastest && *fastest >= 1.0) return {"s", 1.0};
  return {"ms", 1e3};
}

int RatioDecimals(const measure::Comparison& comparison) {
  // One digit of the half-width is enough in words: 1.31x to 1.42x.
  return std::clamp(Decimals(comparison.ratio, comparison.low, comparison.high) - 1, 2, 4);
}

std::string RatioText(const measure::Comparison& comparison) {
  const int decimals = RatioDecimals(comparison);
  if (!comparison.low || !comparison.high) return Fixed(comparison.ratio, decimals) + "x";
  return Fixed(*comparison.low, decimals) + "x to " + Fixed(*comparison.high, decimals) + "x";
}

measure::Comparison Inverted(const measure::Comparison& comparison) {
  measure::Comparison inverted = comparison;
  inverted.ratio = 1.0 / comparison.ratio;
  inverted.low = Inverse(comparison.high);
  inverted.high = Inverse(comparison.low);
  if (comparison.verdict == measure::VerdictWord::kFaster) {
    inverted.verdict = measure::VerdictWord::kSlower;
  } else if (comparison.verdict == measure::VerdictWord::kSlower) {
    inverted.verdict = measure::VerdictWord::kFaster;
  }
  return inverted;
}

std::string Cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}... ({} bytes cut)", text.substr(0, end), text.size() - end);
}

}  // namespace dlbench::report
