#include "frameworks/frameworks.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.h"
#include "core/text.h"

namespace dlbench::cli {
namespace {

using frameworks::Installation;
using frameworks::Listed;
using Json = nlohmann::ordered_json;

/// The tried state of one installation, or the untried one.
std::string StateOf(const Listed& row, const Installation& installation, bool probe) {
  if (!installation.broken.empty()) return "broken: " + installation.broken;
  if (!probe) return "ready";
  const auto report = frameworks::Probe(row.manifest, installation);
  if (!report.ok()) return "broken: " + report.error().message();
  return frameworks::StateOf(row.manifest, *report);
}

Json ToJson(const Listed& row, bool probe) {
  Json installed = Json::array();
  for (const Installation& installation : row.installed) {
    installed.push_back({{"id", installation.id},
                         {"version", installation.version},
                         {"kind", installation.kind},
                         {"folder", installation.folder.string()},
                         {"state", StateOf(row, installation, probe)}});
  }
  return {{"name", row.manifest.name},        {"title", row.manifest.title},
          {"version", row.manifest.version},  {"language", row.manifest.language},
          {"presets", row.manifest.presets},  {"state", row.state},
          {"installed", std::move(installed)}};
}

void PrintRow(std::ostream& out, const Listed& row, bool probe) {
  if (row.installed.empty()) {
    out << fmt::format("{:<12} {:<24} {:<10} {}\n", row.manifest.name, "-", row.manifest.language,
                       "not installed; run: dlbench frameworks install " + row.manifest.name);
  }
  for (const Installation& installation : row.installed) {
    out << fmt::format("{:<12} {:<24} {:<10} {}\n", row.manifest.name, installation.id,
                       row.manifest.language, Printable(StateOf(row, installation, probe)));
  }
}

void ListFrameworks(Context& context, const std::string& format, bool probe) {
  const auto rows = frameworks::List(context.places);
  if (!rows.ok()) return Fail(context, rows.error());
  if (format == "json") {
    Json all = Json::array();
    for (const Listed& row : *rows) all.push_back(ToJson(row, probe));
    *context.out << Json{{"frameworks", all}}.dump(2, ' ', false, Json::error_handler_t::replace)
                 << "\n";
    return;
  }
  *context.out << fmt::format("{:<12} {:<24} {:<10} {}\n", "framework", "installed as", "language",
                              "state");
  for (const Listed& row : *rows) PrintRow(*context.out, row, probe);
}

void PrintInstallation(std::ostream& out, const Installation& installation,
                       const std::string& state) {
  out << "\n" << installation.id << ": " << Printable(state) << "\n";
  if (!installation.folder.empty()) out << "  folder: " << installation.folder.string() << "\n";
  out << "  started with: " << Join(installation.argv, " ") << "\n";
  for (const auto& [key, value] : installation.details) {
    if (!value.empty()) out << "  " << key << ": " << Printable(value) << "\n";
  }
}

void ShowFramework(Context& context, const std::string& name) {
  const auto rows = frameworks::List(context.places);
  if (!rows.ok()) return Fail(context, rows.error());
  std::vector<std::string> names;
  for (const Listed& row : *rows) {
    names.push_back(row.manifest.name);
    if (row.manifest.name != name) continue;
    std::ostream& out = *context.out;
    out << row.manifest.title << " (" << row.manifest.language << ")"
        << (row.manifest.version.empty() ? "" : ", pinned version " + row.manifest.version) << "\n";
    for (const auto& [preset, notes] : row.manifest.preset_notes) {
      out << "preset " << preset << ": " << notes.at("what") << "\n  after: " << notes.at("source")
          << "\n";
    }
    for (const auto& [variable, value] : row.manifest.environment) {
      out << "every launch has " << variable << "=" << value << "\n";
    }
    for (const Installation& installation : row.installed) {
      PrintInstallation(out, installation, StateOf(row, installation, true));
    }
    if (row.installed.empty()) {
      out << "not installed; run: dlbench frameworks install " << name << "\n";
    }
    return;
  }
  Fail(context, Error(ErrorCode::kNotFound,
                      "there is no framework '" + name + "'" + SuggestionFor(name, names)));
}

void InstallFrameworks(Context& context, const std::vector<std::string>& names,
                       const frameworks::InstallOptions& options) {
  for (const std::string& name : names) {
    const auto progress = [&context, &name](const std::string& line) {
      *context.err << name << ": " << line << std::endl;
    };
    const auto result = frameworks::Install(context.places, name, options, progress);
    if (!result.ok()) return Fail(context, result.error());
    *context.out << result->id << "\n";
  }
}

void RemoveFramework(Context& context, const std::string& name) {
  const auto freed = frameworks::Remove(context.places, name);
  if (!freed.ok()) return Fail(context, freed.error());
  *context.out << fmt::format("{} removed; {:.0f} MB freed\n", name,
                              static_cast<double>(*freed) / 1e6);
}

void AddFramework(Context& context, const std::string& name, const std::string& python,
                  const std::string& label) {
  const auto result = frameworks::AddExisting(context.places, name, python, label);
  if (!result.ok()) return Fail(context, result.error());
  *context.out << fmt::format("{} ({}) runs with {}\n", result->id, result->title,
                              result->argv.front());
}

/// What the options of the subcommands are stored in.
struct Options {
  std::string format = "text";
  bool probe = false;
  std::string name;
  std::vector<std::string> names;
  frameworks::InstallOptions install;
  std::string python;
  std::string label;
};

void AddInstall(CLI::App& command, Context& context, const std::shared_ptr<Options>& options) {
  auto* install = command.add_subcommand("install", "Make a framework's environment");
  install->add_option("name", options->names, "Frameworks, one or more")->required();
  install->add_flag("--yes", options->install.yes, "Go on although the download is large");
  install->add_option("--variant", options->install.only_variant,
                      "Only this build: cpu, cu13 (default: the first that pip's sources have)");
  install->callback(
      [&context, options] { InstallFrameworks(context, options->names, options->install); });
}

}  // namespace

void AddFrameworksCommand(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("frameworks", "List, install, add and remove frameworks");
  command->require_subcommand(1);
  const auto options = std::make_shared<Options>();

  auto* list = command->add_subcommand("list", "All frameworks and what is installed of them");
  list->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  list->add_flag("--probe", options->probe,
                 "Try each: import and one training step (seconds for each)");
  list->callback([&context, options] { ListFrameworks(context, options->format, options->probe); });

  auto* show = command->add_subcommand("show", "One framework: presets, settings, state");
  show->add_option("name", options->name, "Framework")->required();
  show->callback([&context, options] { ShowFramework(context, options->name); });

  AddInstall(*command, context, options);

  auto* remove = command->add_subcommand("remove", "Delete a framework's environments");
  remove->add_option("name", options->name, "NAME or NAME@VERSION")->required();
  remove->callback([&context, options] { RemoveFramework(context, options->name); });

  auto* add = command->add_subcommand("add", "Use your own Python; nothing in it is changed");
  add->add_option("name", options->name, "Framework")->required();
  add->add_option("--python", options->python, "Path of the interpreter")->required();
  add->add_option("--label", options->label, "Name of this one (default: mine)");
  add->callback([&context, options] {
    AddFramework(context, options->name, options->python, options->label);
  });
}

}  // namespace dlbench::cli
