#include "report/sentence.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "core/text.h"
#include "report/present.h"

namespace dlbench::report {
namespace {

using measure::Comparison;
using measure::VerdictWord;

/// What two results must share to be compared.
auto GroupKey(const ResultRow& row) {
  return std::tie(row.network, row.variant, row.data, row.synthetic, row.batch, row.mode,
                  row.device, row.precision, row.input, row.threads);
}

std::string Place(const ResultRow& row) {
  std::string text =
      fmt::format("{} on {}, batch {}", NetworkLabel(row), DataLabel(row), row.batch);
  if (row.device.empty() || row.device == "cpu") {
    text += fmt::format(", {} thread{}", row.threads, row.threads == 1 ? "" : "s");
  } else {
    text += ", " + row.device;
  }
  if (!row.precision.empty() && row.precision != "float32") text += ", " + row.precision;
  if (!row.mode.empty() && row.mode != "train") text += ", " + row.mode;
  if (!row.input.empty() && row.input != "resident") text += ", input " + row.input;
  return text;
}

/// The shortest name that tells the row from the others of its group that show a timing.
std::string Label(const Report& report, const ResultRow& row) {
  bool other_preset = false;
  bool other_version = false;
  for (const ResultRow& other : report.results) {
    if (GroupKey(other) != GroupKey(row) || other.framework != row.framework) continue;
    other_preset = other_preset || other.preset != row.preset;
    other_version = other_version || other.framework_version != row.framework_version;
  }
  std::string label = row.framework;
  if (other_version) label += " " + row.framework_version;
  if (other_preset) label += " " + row.preset;
  return label;
}

struct Pair {
  std::size_t a = 0, b = 0;
  Comparison comparison;
};

/// Comparison of `a` with `b`, turned round if the report has it the other way.
std::optional<Pair> FindPair(const std::vector<ShownComparison>& comparisons, std::size_t a,
                             std::size_t b) {
  for (const ShownComparison& shown : comparisons) {
    if (!shown.withheld.empty()) continue;
    if (shown.row->a_index == a && shown.row->b_index == b) {
      return Pair{a, b, shown.row->comparison};
    }
    if (shown.row->a_index == b && shown.row->b_index == a) {
      return Pair{a, b, Inverted(shown.row->comparison)};
    }
  }
  return std::nullopt;
}

/// The fastest arm of the group of result `first` with the first-named other framework.
std::optional<Pair> PairOfGroup(const Report& report,
                                const std::vector<ShownComparison>& comparisons,
                                std::size_t first) {
  std::vector<std::size_t> arms;
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const bool member = GroupKey(report.results[i]) == GroupKey(report.results[first]);
    if (member && ShowsTiming(report.results[i])) arms.push_back(i);
  }
  if (arms.empty()) return std::nullopt;
  std::size_t fastest = arms.front();
  for (const std::size_t arm : arms) {
    const double time = report.results[arm].step_time->estimate;
    if (time < report.results[fastest].step_time->estimate) fastest = arm;
  }
  for (const bool other_framework : {true, false}) {
    for (const std::size_t arm : arms) {
      const bool differs = report.results[arm].framework != report.results[fastest].framework;
      if (arm == fastest || differs != other_framework) continue;
      if (auto pair = FindPair(comparisons, fastest, arm)) return pair;
    }
  }
  // The fastest arm was not compared (its mode is unknown, say): any pair of the group will do.
  for (const std::size_t a : arms) {
    for (const std::size_t b : arms) {
      if (a == b) continue;
      if (auto pair = FindPair(comparisons, a, b)) return pair;
    }
  }
  return std::nullopt;
}

std::string SpeedText(const std::string& a, const std::string& b, const Comparison& comparison) {
  const bool clear = comparison.low && *comparison.low > 1.0;
  if (clear) return fmt::format("{} is {} faster than {}", a, RatioText(comparison), b);
  return fmt::format("{} runs at {} the speed of {}", a, RatioText(comparison), b);
}

std::string Answer(const std::string& a, const std::string& b, const Comparison& comparison,
                   bool quick) {
  if (quick || comparison.verdict == VerdictWord::kQuickLook) {
    std::string text = SpeedText(a, b, comparison);
    if (!comparison.low) {
      text += fmt::format(" in {} round{}, too few for an interval", comparison.rounds,
                          comparison.rounds == 1 ? "" : "s");
    }
    return text + " (quick look, no verdict)";
  }
  switch (comparison.verdict) {
    case VerdictWord::kEquivalent:
      return fmt::format("{} and {} are equivalent: {} runs at {} the speed of {}", a, b, a,
                         RatioText(comparison), b);
    case VerdictWord::kSmallChange:
      return SpeedText(a, b, comparison) + ", a small change";
    case VerdictWord::kUnresolved: {
      std::string text = SpeedText(a, b, comparison) + ", which leaves open which is faster";
      if (comparison.detectable_effect && std::isfinite(*comparison.detectable_effect)) {
        text += fmt::format("; {} rounds could have shown a difference of {} % or more",
                            comparison.rounds,
                            Fixed(100.0 * *comparison.detectable_effect,
                                  Decimals(100.0 * *comparison.detectable_effect, {}, {}) - 1));
      }
      return text + " (unresolved: more rounds may tell)";
    }
    case VerdictWord::kFaster:
    case VerdictWord::kSlower:
    case VerdictWord::kQuickLook:
      break;
  }
  return SpeedText(a, b, comparison);
}

std::string OneArm(const Report& report, const ResultRow& row) {
  const TimeUnit unit = ChooseUnit(report);
  const measure::StepTime& time = *row.step_time;
  const int decimals =
      Decimals(time.estimate * unit.per_second,
               time.low ? std::optional(*time.low * unit.per_second) : time.low,
               time.high ? std::optional(*time.high * unit.per_second) : time.high);
  std::string text = fmt::format("{}: {} takes {} {} a step", Place(row), Label(report, row),
                                 Fixed(time.estimate * unit.per_second, decimals), unit.name);
  if (time.low && time.high && std::isfinite(*time.low) && std::isfinite(*time.high)) {
    text += fmt::format(" ({} to {})", Fixed(*time.low * unit.per_second, decimals),
                        Fixed(*time.high * unit.per_second, decimals));
  }
  return text + "; nothing was compared with it";
}

std::string NoTiming(const Report& report) {
  std::map<std::string, int> counts;
  for (const ResultRow& row : report.results) {
    ++counts[ShowsTiming(row) || row.status == "timed" ? "without a time" : row.status];
  }
  std::vector<std::string> parts;
  if (counts.size() == 1 && counts.count("verified") == 1) {
    return fmt::format("{} configuration{} proved equal to the reference, none timed",
                       counts["verified"], counts["verified"] == 1 ? "" : "s");
  }
  for (const auto& [status, count] : counts) parts.push_back(fmt::format("{} {}", count, status));
  return parts.empty() ? "no result yet" : "no verified timing: " + Join(parts, ", ");
}

/// Says so where an arm of the answer is not simply "timed".
std::string Caveat(const Report& report, const Pair& pair) {
  std::string text;
  for (const std::size_t index : {pair.a, pair.b}) {
    const ResultRow& row = report.results[index];
    if (row.status != "timed") text += "; " + Label(report, row) + " is " + row.status;
  }
  return text;
}

std::string Body(const Report& report) {
  const auto comparisons = ShownComparisons(report);
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    auto pair = PairOfGroup(report, comparisons, i);
    if (!pair) continue;
    // Said of the faster one, even where the report has the pair the other way.
    if (pair->comparison.high && *pair->comparison.high < 1.0) {
      *pair = Pair{pair->b, pair->a, Inverted(pair->comparison)};
    }
    const ResultRow& a = report.results[pair->a];
    const ResultRow& b = report.results[pair->b];
    return Place(a) + ": " +
           Answer(Label(report, a), Label(report, b), pair->comparison, report.quick) +
           Caveat(report, *pair);
  }
  for (const ResultRow& row : report.results) {
    if (ShowsTiming(row)) return OneArm(report, row);
  }
  return NoTiming(report);
}

}  // namespace

std::string BuildSentence(const Report& report) {
  std::string text = SanitizeUtf8(Body(report));
  if (!report.finished) text += " (the run is not finished)";
  return text;
}

}  // namespace dlbench::report
