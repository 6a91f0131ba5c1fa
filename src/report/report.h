#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "measure/measure.h"
#include "verify/verify.h"

namespace dlbench::report {

/// One configuration's result: the only source of every output format. Absent means unknown or
/// withheld.
struct ResultRow {
  std::string framework, framework_title, framework_version, language;
  std::string preset, mode_label;  ///< mode_label: "eager", "compiled", "unknown".
  std::string network, network_title, variant, data;
  bool synthetic = false;
  std::int64_t batch = 0;
  std::string device, mode, precision, input;
  int threads = 1;
  /// timed, verified (proved equal, not timed), unequal, impossible, failed, unsupported,
  /// disturbed, imprecise.
  std::string status;
  std::string reason;
  std::optional<std::string> failure_kind;
  std::optional<int> signal;
  std::string log_tail;
  /// Gate: absent if it never ran.
  struct Verification {
    std::string status;
    std::int64_t steps = 0;
    std::vector<verify::Check>
        worst;  ///< Per quantity the check nearest to (or furthest over) its limit.
    std::string reason, diagnosis;
    std::vector<std::string> blind_spots;
    std::int64_t full_launches = 0, light_launches = 0;
  };
  std::optional<Verification> verification;
  /// Everything below is present only where status is "timed" (or disturbed / imprecise).
  std::optional<measure::StepTime> step_time;
  std::optional<double> mean_step_seconds;  ///< Median over launches of the launch means.
  std::optional<double> samples_per_second;
  std::optional<double> percent_of_peak;
  std::optional<double> threads_used;
  std::optional<double> first_step_seconds;
  std::optional<std::uint64_t> peak_memory_bytes;
  std::int64_t launches_attempted = 0, launches_failed = 0;
  std::map<std::string, std::string> settings;  ///< Effective.
};

struct ComparisonRow {
  std::string a, b;  ///< Labels: "onednn default", with threads and batch where they vary.
  std::size_t a_index = 0, b_index = 0;  ///< Into results.
  measure::Comparison comparison;
};

/// Everything that a report shows, in display order.
struct Report {
  std::string dlbench_version, started, command_line;
  std::string machine_summary;  ///< One line.
  std::string machine_json;     ///< Embedded in JSON output.
  std::string results_folder;
  bool quick = false;
  bool finished = true;
  std::vector<ResultRow> results;
  std::vector<ComparisonRow> comparisons;
  std::string sentence;  ///< The one-sentence answer; says why there is none otherwise.
  std::vector<std::string> warnings;
};

enum class Format { kTable, kMarkdown, kCsv, kJson };
/// "table", "markdown", "csv", "json"; kUsage with the known ones otherwise.
Result<Format> ParseFormat(const std::string& text);
/// The report in `format`; `width` of the terminal for kTable (0: not a terminal, no elision).
/// A timing is never written for a row whose status is not timed, disturbed or imprecise.
std::string Render(const Report& report, Format format, int width = 0, bool color = false);

}  // namespace dlbench::report
