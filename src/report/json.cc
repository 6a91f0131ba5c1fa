#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "report/present.h"
#include "report/writers.h"

namespace dlbench::report {
namespace {

using Json = nlohmann::ordered_json;

/// Version of the shape of the output (docs/results.md).
constexpr int kFormatVersion = 1;

Json Text(const std::string& text) { return SanitizeUtf8(text); }
Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Text(text); }

/// JSON has no NaN and no infinity: those are null.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json Number(const std::optional<double>& value) { return value ? Number(*value) : Json(); }

Json Texts(const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const std::string& text : texts) array.push_back(Text(text));
  return array;
}

Json CheckJson(const verify::Check& check) {
  return {{"what", verify::ToString(check.quantity)},
          {"tensor", TextOrNull(check.tensor)},
          {"moment", Text(check.moment)},
          {"steps", check.steps},
          {"error", Number(check.error.norm_relative)},
          {"limit", Number(check.norm_limit)},
          {"worst_error", Number(check.error.worst_over_rms)},
          {"worst_limit", Number(check.worst_limit)},
          {"cosine_distance", Number(check.error.cosine_distance)},
          {"finite", check.error.finite},
          {"decidable", check.decidable},
          {"passed", check.passed}};
}

Json VerificationJson(const std::optional<ResultRow::Verification>& verification) {
  if (!verification) return Json();
  Json worst = Json::array();
  for (const verify::Check& check : verification->worst) worst.push_back(CheckJson(check));
  return {{"status", Text(verification->status)},
          {"steps", verification->steps},
          {"worst", worst},
          {"reason", TextOrNull(verification->reason)},
          {"diagnosis", TextOrNull(verification->diagnosis)},
          {"blind_spots", Texts(verification->blind_spots)},
          {"full_launches", verification->full_launches},
          {"light_launches", verification->light_launches}};
}

/// The timings, or null with the reason.
void AddTimings(const ResultRow& row, Json& json) {
  if (!ShowsTiming(row)) {
    json["step_seconds"] = nullptr;
    json["step_seconds_reason"] = Text(WithheldReason(row));
  } else {
    const measure::StepTime& time = *row.step_time;
    Json step = {{"estimate", Number(time.estimate)}, {"low", Number(time.low)},
                 {"high", Number(time.high)},         {"launches", time.launches},
                 {"spread", Number(time.spread)},     {"multimodal", time.multimodal}};
    if (!time.low || !time.high) {
      step["interval_reason"] = "fewer than 6 launches";
    } else if (!std::isfinite(*time.low) || !std::isfinite(*time.high)) {
      step["interval_reason"] = "not finite";
    }
    json["step_seconds"] = std::move(step);
  }
  const std::pair<const char*, std::optional<double>> figures[] = {
      {"mean_step_seconds", row.mean_step_seconds},
      {"first_step_seconds", row.first_step_seconds},
      {"samples_per_second", row.samples_per_second},
      {"percent_of_peak", row.percent_of_peak},
      {"threads_used", row.threads_used}};
  for (const auto& [name, value] : figures) {
    json[name] = Number(Shown(row, value));
    if (ShowsTiming(row) && value && !std::isfinite(*value)) {
      json[std::string(name) + "_reason"] = "not finite";
    }
  }
  const bool memory = ShowsTiming(row) && row.peak_memory_bytes;
  json["peak_memory_bytes"] = memory ? Json(*row.peak_memory_bytes) : Json();
}

Json ResultJson(const ResultRow& row) {
  Json settings = Json::object();
  for (const auto& [name, value] : row.settings) settings[SanitizeUtf8(name)] = Text(value);
  Json json = {{"framework", Text(row.framework)},
               {"framework_title", Text(row.framework_title)},
               {"framework_version", Text(row.framework_version)},
               {"language", Text(row.language)},
               {"preset", Text(row.preset)},
               {"mode_label", UnknownMode(row) ? Json("unknown") : Text(row.mode_label)},
               {"network", Text(row.network)},
               {"network_title", Text(row.network_title)},
               {"variant", Text(row.variant)},
               {"data", Text(DataLabel(row))},
               {"synthetic", row.synthetic},
               {"batch", row.batch},
               {"device", Text(row.device)},
               {"mode", Text(row.mode)},
               {"threads", row.threads},
               {"precision", Text(row.precision)},
               {"input", Text(row.input)},
               {"status", Text(row.status)},
               {"reason", TextOrNull(row.reason)},
               {"failure_kind", row.failure_kind ? Text(*row.failure_kind) : Json()},
               {"signal", row.signal ? Json(*row.signal) : Json()},
               {"log_tail", TextOrNull(row.log_tail)},
               {"launches_attempted", row.launches_attempted},
               {"launches_failed", row.launches_failed},
               {"verification", VerificationJson(row.verification)}};
  AddTimings(row, json);
  json["settings"] = std::move(settings);
  return json;
}

Json ComparisonJson(const ShownComparison& shown) {
  const ComparisonRow& row = *shown.row;
  Json json = {{"a", Text(row.a)},
               {"b", Text(row.b)},
               {"a_result", row.a_index},
               {"b_result", row.b_index},
               {"rounds", row.comparison.rounds}};
  if (!shown.withheld.empty()) {
    json["ratio"] = nullptr;
    json["verdict"] = nullptr;
    json["detectable_effect"] = nullptr;
    json["reason"] = Text(shown.withheld);
    return json;
  }
  json["ratio"] = {{"estimate", Number(row.comparison.ratio)},
                   {"low", Number(row.comparison.low)},
                   {"high", Number(row.comparison.high)}};
  json["verdict"] = measure::ToString(row.comparison.verdict);
  json["detectable_effect"] = Number(row.comparison.detectable_effect);
  json["reason"] = nullptr;
  return json;
}

}  // namespace

std::string RenderJson(const Report& report) {
  Json results = Json::array();
  for (const ResultRow& row : report.results) results.push_back(ResultJson(row));
  Json comparisons = Json::array();
  for (const ShownComparison& shown : ShownComparisons(report)) {
    comparisons.push_back(ComparisonJson(shown));
  }
  // Not valid JSON (or bad UTF-8 inside): the summary still tells the machine.
  Json machine = Json::parse(report.machine_json, nullptr, /*allow_exceptions=*/false);
  if (machine.is_discarded()) machine = nullptr;
  const Json json = {{"dlbench", {{"version", Text(report.dlbench_version)}}},
                     {"format_version", kFormatVersion},
                     {"started", Text(report.started)},
                     {"command_line", Text(report.command_line)},
                     {"quick", report.quick},
                     {"finished", report.finished},
                     {"machine", machine},
                     {"machine_summary", Text(report.machine_summary)},
                     {"results_folder", Text(report.results_folder)},
                     {"results", results},
                     {"comparisons", comparisons},
                     {"sentence", Text(report.sentence)},
                     {"warnings", Texts(report.warnings)}};
  return json.dump(2) + "\n";
}

}  // namespace dlbench::report
