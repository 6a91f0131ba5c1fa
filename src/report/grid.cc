#include "report/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/text.h"
#include "report/present.h"

namespace dlbench::report {
namespace {

/// A report stays readable beside one endless message; JSON and CSV have all of it.
constexpr std::size_t kReasonLimit = 2000;
constexpr std::size_t kLogLines = 12;
constexpr std::size_t kLogLineLimit = 300;

auto GridKey(const ResultRow& row) {
  return std::tie(row.network, row.variant, row.data, row.synthetic, row.batch, row.mode,
                  row.device, row.precision, row.input);
}

std::string Heading(const ResultRow& row) {
  std::string text =
      fmt::format("{} on {}, batch {}", NetworkLabel(row), DataLabel(row), row.batch);
  for (const std::string& part : {row.mode, row.device, row.precision}) {
    if (!part.empty()) text += ", " + part;
  }
  return row.input.empty() ? text : text + ", input " + row.input;
}

std::string Name(const ResultRow& row) {
  const std::string& name = row.framework_title.empty() ? row.framework : row.framework_title;
  return row.framework_version.empty() ? name : name + " " + row.framework_version;
}

std::string Launches(const ResultRow& row) {
  if (!ShowsTiming(row)) return "";
  const std::string timed = std::to_string(row.step_time->launches);
  if (row.launches_failed == 0) return timed;
  return timed + " of " + std::to_string(row.launches_attempted);
}

struct Times {
  std::string estimate, interval, samples;
};

/// The three figures of a row with digits that follow the interval.
Times TimesOf(const ResultRow& row, const TimeUnit& unit) {
  if (!ShowsTiming(row)) return {"-", "-", "-"};
  const auto scaled = [&](const std::optional<double>& value) {
    const auto shown = Shown(row, value);
    return shown ? std::optional(*shown * unit.per_second) : std::nullopt;
  };
  const double estimate = row.step_time->estimate * unit.per_second;
  const auto low = scaled(row.step_time->low);
  const auto high = scaled(row.step_time->high);
  const int decimals = Decimals(estimate, low, high);
  Times times;
  times.estimate = Fixed(estimate, decimals);
  times.interval =
      low && high ? Fixed(*low, decimals) + " to " + Fixed(*high, decimals) : "no interval";
  times.samples = "-";
  if (const auto samples = Shown(row, row.samples_per_second); samples && *samples > 0.0) {
    // As many digits as the time has.
    const auto magnitude = [](double value) {
      return static_cast<int>(std::floor(std::log10(value)));
    };
    times.samples = Fixed(*samples, decimals + magnitude(estimate) - magnitude(*samples));
  }
  return times;
}

Cell GateCell(const ResultRow& row) {
  if (!row.verification) return {"-"};
  const std::string& status = row.verification->status;
  return {status, status == "equal" ? Tone::kGood : Tone::kBad};
}

Cell StatusCell(const ResultRow& row, std::size_t note) {
  const std::string mark = note > 0 ? fmt::format(" [{}]", note) : "";
  return {row.status + mark, row.status == "timed" ? Tone::kPlain : Tone::kBad};
}

std::vector<GridColumn> ResultColumns(const TimeUnit& unit) {
  return {{"framework"},
          {"preset"},
          {"mode"},
          {"threads", true},
          {fmt::format("step time [{}]", unit.name), true},
          {"95 % interval", true},
          {"launches", true},
          {"samples/s", true},
          {"% of peak", true},
          {"gate"},
          {"status"}};
}

std::vector<Cell> ResultCells(const ResultRow& row, const TimeUnit& unit, std::size_t note) {
  const Times times = TimesOf(row, unit);
  const auto peak = Shown(row, row.percent_of_peak);
  std::string threads = std::to_string(row.threads);
  // Within 10 % of what was asked is what was asked.
  if (const auto used = Shown(row, row.threads_used); used && *used < 0.9 * row.threads) {
    threads += fmt::format(" ({:.1f} used)", *used);
  }
  return {{Name(row)},     {row.preset},         {UnknownMode(row) ? "unknown" : row.mode_label},
          {threads},       {times.estimate},     {times.interval},
          {Launches(row)}, {times.samples},      {peak ? fmt::format("{:.1f}", *peak) : "-"},
          GateCell(row),   StatusCell(row, note)};
}

std::string CheckText(const verify::Check& check) {
  std::string text = verify::ToString(check.quantity);
  if (!check.tensor.empty()) text += " of " + check.tensor;
  if (!check.moment.empty()) text += " (" + check.moment + ")";
  if (!check.error.finite) return text + ": not finite";
  if (!check.decidable) return text + ": not decidable in this precision";
  return text + fmt::format(": error {:.2g}, limit {:.2g}; worst element {:.2g}, limit {:.2g}",
                            check.error.norm_relative, check.norm_limit, check.error.worst_over_rms,
                            check.worst_limit);
}

void AddVerification(const ResultRow::Verification& verification, Note& note) {
  if (!verification.reason.empty()) {
    note.lines.push_back("gate: " + Cut(verification.reason, kReasonLimit));
  }
  if (!verification.diagnosis.empty()) {
    note.lines.push_back("likely cause: " + Cut(verification.diagnosis, kReasonLimit));
  }
  for (const verify::Check& check : verification.worst) {
    if (!check.passed || !check.decidable) note.lines.push_back(CheckText(check));
  }
  if (!verification.blind_spots.empty()) {
    note.lines.push_back("the gate could not have seen: " + Join(verification.blind_spots, ", "));
  }
}

/// The last lines of `log`, each of bounded length.
std::string LogTail(const std::string& log) {
  std::vector<std::string> lines = Split(Trim(log), '\n');
  if (lines.size() > kLogLines) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kLogLines));
  }
  for (std::string& line : lines) line = Cut(line, kLogLineLimit);
  return Join(lines, "\n");
}

/// Nothing for a row of which there is nothing to tell.
std::optional<Note> NoteOf(const ResultRow& row, std::size_t number) {
  Note note;
  if (!row.reason.empty()) note.lines.push_back(Cut(row.reason, kReasonLimit));
  if (row.failure_kind) {
    note.lines.push_back("failure: " + *row.failure_kind +
                         (row.signal ? " (signal " + std::to_string(*row.signal) + ")" : ""));
  }
  if (row.verification) AddVerification(*row.verification, note);
  if (row.status == "failed" || row.launches_failed > 0) note.log_tail = LogTail(row.log_tail);
  const bool timed = row.status == "timed";
  if (timed && note.lines.empty() && note.log_tail.empty()) return std::nullopt;
  if (note.lines.empty()) note.lines.push_back("no reason was given");
  note.head = fmt::format("[{}] {} {}: {}", number, Name(row), row.preset, row.status);
  return note;
}

std::vector<Cell> ComparisonCells(const ShownComparison& shown) {
  const ComparisonRow& row = *shown.row;
  if (!shown.withheld.empty()) return {{row.a}, {row.b}, {"-"}, {"-"}, {shown.withheld}, {"-"}};
  const measure::Comparison& comparison = row.comparison;
  const auto detectable = comparison.detectable_effect;
  const bool tell = detectable && std::isfinite(*detectable);
  const bool open = comparison.verdict == measure::VerdictWord::kUnresolved ||
                    comparison.verdict == measure::VerdictWord::kEquivalent;
  std::string verdict = VerdictText(comparison.verdict);
  if (tell && open) verdict += fmt::format(" (could have seen {:.1f} %)", 100.0 * *detectable);
  return {{row.a},
          {row.b},
          {Fixed(comparison.ratio, RatioDecimals(comparison)) + "x"},
          {comparison.low && comparison.high ? RatioText(comparison) : "no interval"},
          {verdict},
          {std::to_string(comparison.rounds)}};
}

}  // namespace

Page MakePage(const Report& report) {
  Page page;
  page.head.push_back(fmt::format("dlbench {}, {}", report.dlbench_version, report.started));
  if (!report.machine_summary.empty()) page.head.push_back(report.machine_summary);
  if (!report.results_folder.empty()) page.head.push_back("results in " + report.results_folder);
  const TimeUnit unit = ChooseUnit(report);
  std::vector<const ResultRow*> firsts;  // of each grid
  for (const ResultRow& row : report.results) {
    const auto found = std::find_if(firsts.begin(), firsts.end(), [&](const ResultRow* first) {
      return GridKey(*first) == GridKey(row);
    });
    const auto index = static_cast<std::size_t>(found - firsts.begin());
    if (found == firsts.end()) {
      firsts.push_back(&row);
      page.grids.push_back({Heading(row), ResultColumns(unit), {}});
    }
    auto note = NoteOf(row, page.notes.size() + 1);
    page.grids[index].rows.push_back(ResultCells(row, unit, note ? page.notes.size() + 1 : 0));
    if (note) page.notes.push_back(std::move(*note));
  }
  page.comparisons.heading = "Comparisons (ratio = step time of b / step time of a)";
  page.comparisons.columns = {
      {"a"}, {"b"}, {"ratio", true}, {"95 % interval", true}, {"verdict"}, {"rounds", true}};
  for (const ShownComparison& shown : ShownComparisons(report)) {
    page.comparisons.rows.push_back(ComparisonCells(shown));
  }
  page.sentence = report.sentence;
  page.warnings = report.warnings;
  if (!report.finished) page.warnings.emplace_back("the run is not finished");
  return page;
}

}  // namespace dlbench::report
