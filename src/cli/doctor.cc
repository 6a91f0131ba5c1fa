#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/text.h"
#include "machine/machine.h"

namespace dlbench::cli {
namespace {

using Json = nlohmann::ordered_json;
using machine::Finding;
using Severity = Finding::Severity;

const char* Word(Severity severity) {
  switch (severity) {
    case Severity::kOk:
      return "ok";
    case Severity::kWarning:
      return "warning";
    case Severity::kProblem:
      break;
  }
  return "problem";
}

/// One finding for each framework: ready, not installed (which is no problem), or broken.
std::vector<Finding> FrameworkFindings(const frameworks::Places& places) {
  const auto listed = frameworks::List(places);
  if (!listed.ok()) return {{Severity::kProblem, Printable(listed.error().message()), ""}};
  std::vector<Finding> findings;
  for (const frameworks::Listed& row : *listed) {
    const std::string install = "dlbench frameworks install " + row.manifest.name;
    std::string versions;
    for (const auto& installation : row.installed) {
      versions += (versions.empty() ? " (" : ", ") + installation.id;
    }
    if (!versions.empty()) versions += ")";
    const std::string what = "framework " + row.manifest.name + ": " + row.state + versions;
    if (row.state == "ready") {
      findings.push_back({Severity::kOk, what, ""});
    } else if (row.state.starts_with("broken")) {
      findings.push_back({Severity::kProblem, what,
                          "dlbench frameworks remove " + row.manifest.name + " && " + install});
    } else {
      findings.push_back({Severity::kOk, what, install});
    }
  }
  return findings;
}

void PrintTable(std::ostream& out, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    out << fmt::format("{:<9}{}\n", Word(finding.severity), Printable(finding.what));
    if (!finding.command.empty()) out << fmt::format("{:<9}  $ {}\n", "", finding.command);
  }
}

void PrintJson(std::ostream& out, const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"severity", Word(finding.severity)},
                    {"what", SanitizeUtf8(finding.what)},
                    {"command", finding.command.empty() ? Json(nullptr) : Json(finding.command)}});
  }
  out << Json{{"findings", list}}.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void Run(Context& context, const std::string& format) {
  std::vector<Finding> findings = machine::Diagnose(machine::Detect());
  for (Finding& finding : FrameworkFindings(context.places)) findings.push_back(std::move(finding));
  const auto count = [&](Severity severity) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& finding) { return finding.severity == severity; });
  };
  const auto problems = count(Severity::kProblem);
  if (format == "json") {
    PrintJson(*context.out, findings);
  } else {
    PrintTable(*context.out, findings);
    *context.out << fmt::format("\n{} problem(s), {} warning(s)\n", problems,
                                count(Severity::kWarning));
  }
  if (problems > 0) context.exit_status = kBadResult;
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "doctor", "Find what is missing or slows things down, with the command that mends it");
  auto format = std::make_shared<std::string>("table");
  command->add_option("--format", *format, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->callback([&context, format] { Run(context, *format); });
}

}  // namespace dlbench::cli
