#include <fmt/format.h>

#include <functional>
#include <vector>

#include "core/text.h"
#include "report/present.h"
#include "report/writers.h"

namespace dlbench::report {
namespace {

/// RFC 4180: a field with a comma, quote or line end is quoted, quotes are doubled. Control
/// characters, which it does not allow, are written as "\xXX".
std::string Field(const std::string& raw) {
  const std::string text = Printable(raw);
  if (text.find_first_of(",\"\n\t ") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

/// The shortest text that reads back as the same number, with a point; empty for absent. Seconds
/// become milliseconds at 15 digits: 0.0321 s is 32.1, not 32.099999999999994.
std::string Number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}
std::string Milliseconds(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.15g}", *seconds * 1e3) : "";
}

std::string Gate(const ResultRow& row, std::string ResultRow::Verification::*field) {
  return row.verification ? (*row.verification).*field : "";
}

std::optional<double> Estimate(const ResultRow& row) {
  return row.step_time ? std::optional(row.step_time->estimate) : std::nullopt;
}
std::optional<double> Low(const ResultRow& row) {
  return row.step_time ? row.step_time->low : std::nullopt;
}
std::optional<double> High(const ResultRow& row) {
  return row.step_time ? row.step_time->high : std::nullopt;
}

struct Column {
  const char* name;
  std::function<std::string(const ResultRow&)> text;
};

template <class T>
std::string Plain(const T& value) {
  return fmt::format("{}", value);
}

std::vector<Column> SettingColumns() {
  return {{"framework", [](const auto& row) { return row.framework; }},
          {"framework_version", [](const auto& row) { return row.framework_version; }},
          {"language", [](const auto& row) { return row.language; }},
          {"preset", [](const auto& row) { return row.preset; }},
          {"mode_label", [](const auto& row) { return row.mode_label; }},
          {"network", [](const auto& row) { return row.network; }},
          {"variant", [](const auto& row) { return row.variant; }},
          {"data", [](const auto& row) { return DataLabel(row); }},
          {"synthetic", [](const auto& row) { return Plain(row.synthetic); }},
          {"batch_samples", [](const auto& row) { return Plain(row.batch); }},
          {"mode", [](const auto& row) { return row.mode; }},
          {"device", [](const auto& row) { return row.device; }},
          {"threads", [](const auto& row) { return Plain(row.threads); }},
          {"precision", [](const auto& row) { return row.precision; }},
          {"input", [](const auto& row) { return row.input; }},
          {"status", [](const auto& row) { return row.status; }},
          {"reason", [](const auto& row) { return row.reason; }}};
}

std::vector<Column> NumberColumns() {
  return {{"step_time_ms", [](const auto& r) { return Milliseconds(Shown(r, Estimate(r))); }},
          {"step_time_low_ms", [](const auto& r) { return Milliseconds(Shown(r, Low(r))); }},
          {"step_time_high_ms", [](const auto& r) { return Milliseconds(Shown(r, High(r))); }},
          {"mean_step_time_ms",
           [](const auto& r) { return Milliseconds(Shown(r, r.mean_step_seconds)); }},
          {"first_step_time_ms",
           [](const auto& r) { return Milliseconds(Shown(r, r.first_step_seconds)); }},
          {"samples_per_s", [](const auto& r) { return Number(Shown(r, r.samples_per_second)); }},
          {"percent_of_peak", [](const auto& r) { return Number(Shown(r, r.percent_of_peak)); }},
          {"threads_used", [](const auto& r) { return Number(Shown(r, r.threads_used)); }},
          {"peak_memory_bytes",
           [](const auto& r) {
             return ShowsTiming(r) && r.peak_memory_bytes ? Plain(*r.peak_memory_bytes) : "";
           }},
          {"launches",
           [](const auto& r) { return ShowsTiming(r) ? Plain(r.step_time->launches) : ""; }},
          {"launches_attempted", [](const auto& r) { return Plain(r.launches_attempted); }},
          {"launches_failed", [](const auto& r) { return Plain(r.launches_failed); }}};
}

std::vector<Column> GateColumns() {
  using Verification = ResultRow::Verification;
  return {{"gate_status", [](const auto& r) { return Gate(r, &Verification::status); }},
          {"gate_steps",
           [](const auto& r) { return r.verification ? Plain(r.verification->steps) : ""; }},
          {"gate_reason", [](const auto& r) { return Gate(r, &Verification::reason); }},
          {"gate_diagnosis", [](const auto& r) { return Gate(r, &Verification::diagnosis); }},
          {"failure_kind", [](const auto& r) { return r.failure_kind.value_or(""); }},
          {"signal", [](const auto& r) { return r.signal ? Plain(*r.signal) : ""; }}};
}

}  // namespace

std::string RenderCsv(const Report& report) {
  std::vector<Column> columns;
  for (auto part : {SettingColumns(), NumberColumns(), GateColumns()}) {
    columns.insert(columns.end(), part.begin(), part.end());
  }
  std::vector<std::string> fields;
  for (const Column& column : columns) fields.emplace_back(column.name);
  std::string text = Join(fields, ",") + "\r\n";
  for (const ResultRow& row : report.results) {
    fields.clear();
    for (const Column& column : columns) fields.push_back(Field(column.text(row)));
    text += Join(fields, ",") + "\r\n";
  }
  return text;
}

}  // namespace dlbench::report
