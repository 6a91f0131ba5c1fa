#include "experiment/machine_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace dlbench::experiment {
namespace {

using Json = nlohmann::json;

/// The record as JSON; an empty object for text that is none.
Json Parse(const std::string& record) {
  Json json = Json::parse(record, nullptr, false);
  return json.is_object() ? json : Json::object();
}

}  // namespace

std::string MachineRecord(const machine::Machine& machine,
                          const std::vector<machine::Peak>& peaks) {
  Json json = Parse(machine::ToJson(machine));
  Json list = Json::array();
  for (const machine::Peak& peak : peaks) {
    list.push_back({{"what", peak.what},
                    {"threads", peak.threads},
                    {"per_second", peak.per_second},
                    {"how", peak.how},
                    {"disturbed", peak.disturbed}});
  }
  json["peaks"] = list;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<machine::Peak> PeaksOf(const std::string& machine_record) {
  std::vector<machine::Peak> peaks;
  const Json json = Parse(machine_record);
  if (!json.contains("peaks") || !json["peaks"].is_array()) return peaks;
  for (const Json& entry : json["peaks"]) {
    if (!entry.is_object() || !entry.contains("per_second") || !entry["per_second"].is_number()) {
      continue;
    }
    machine::Peak peak;
    peak.what = entry.value("what", "");
    peak.threads = entry.value("threads", 1);
    peak.per_second = entry["per_second"].get<double>();
    peak.how = entry.value("how", "");
    peak.disturbed = entry.value("disturbed", false);
    peaks.push_back(peak);
  }
  return peaks;
}

std::string MachineLine(const std::string& machine_record) {
  const Json json = Parse(machine_record);
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "unknown";
  };
  const auto number = [&](const char* key) {
    return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0.0;
  };
  std::string line =
      fmt::format("{}, {:.0f} usable threads, {:.1f} GiB, {}", text("cpu_model"),
                  number("usable_threads"), number("memory_bytes") / (1 << 30), text("os"));
  if (text("virtualization") != "unknown" && text("virtualization") != "none") {
    line += ", virtual machine (" + text("virtualization") + ")";
  }
  return line;
}

}  // namespace dlbench::experiment
