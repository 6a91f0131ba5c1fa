#include "cli/app.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "core/file.h"
#include "core/text.h"

namespace dlbench::cli {
namespace {

namespace fs = std::filesystem;

fs::path ExecutableFolder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : self.parent_path();
}

bool HoldsShippedFiles(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "adapters" / "sdk", ignored) &&
         fs::is_directory(folder / "networks", ignored);
}

/// The folder with adapters/ and networks/: DLBENCH_HOME, else the nearest above the program.
fs::path ShippedFolder(const fs::path& executable_folder) {
  if (const char* home = std::getenv("DLBENCH_HOME"); home != nullptr && home[0] != '\0') {
    return home;
  }
  for (fs::path folder = executable_folder; folder != folder.parent_path();
       folder = folder.parent_path()) {
    if (HoldsShippedFiles(folder)) return folder;
    if (HoldsShippedFiles(folder / "share" / "dlbench")) return folder / "share" / "dlbench";
  }
  return executable_folder;
}

Context MakeContext(std::ostream& out, std::ostream& err) {
  const fs::path executable_folder = ExecutableFolder();
  const fs::path shipped = ShippedFolder(executable_folder);
  Context context;
  context.places.adapters = shipped / "adapters";
  context.places.binaries = executable_folder;
  context.places.data_home = DataHome();
  context.network_folders = {shipped / "networks"};
  context.out = &out;
  context.err = &err;
  return context;
}

/// The names that a word could have been: of the commands or, for "--word", of the options.
std::vector<std::string> KnownNames(const CLI::App& command, bool options) {
  std::vector<std::string> names;
  if (options) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
  }
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

/// What is wrong with the first word that `app` does not know, where that can be said more
/// helpfully than CLI11 does; else empty.
std::string ExplainUnknownWord(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  int i = 1;
  for (; i < argc; ++i) {
    const auto names = KnownNames(*command, false);
    if (names.empty() || argv[i][0] == '-') break;
    if (std::find(names.begin(), names.end(), argv[i]) == names.end()) {
      return "there is no command '" + Printable(argv[i]) + "'" + SuggestionFor(argv[i], names);
    }
    command = command->get_subcommand(argv[i]);
  }
  for (const std::string& word : app.remaining(true)) {
    const auto names = KnownNames(*command, true);
    const std::string name = word.substr(0, word.find('='));
    if (word.rfind("--", 0) != 0) continue;
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return "there is no option '" + Printable(name) + "'" + SuggestionFor(name, names);
  }
  return "";
}

}  // namespace

void Fail(Context& context, const Error& error) {
  *context.err << "dlbench: " << error.message() << '\n';
  switch (error.code()) {
    case ErrorCode::kUsage:
    case ErrorCode::kInput:
    case ErrorCode::kNotFound:
    case ErrorCode::kIo:
    case ErrorCode::kUnsupported:
      context.exit_status = kUsageError;
      return;
    case ErrorCode::kFailed:
    case ErrorCode::kInternal:
      context.exit_status = kBadResult;
      return;
    case ErrorCode::kInterrupted:
      context.exit_status = kInterrupted;
      return;
  }
}

int RunApp(int argc, char** argv, std::ostream& out, std::ostream& err) {
  Context context = MakeContext(out, err);
  CLI::App app(
      "dlbench trains the same network in every framework, proves that it is the same, times it\n"
      "honestly, and answers in one sentence.",
      "dlbench");
  app.set_version_flag("--version", "dlbench " DLBENCH_VERSION);
  app.require_subcommand(1);
  app.fallthrough(false);
  app.footer(
      "First steps:\n"
      "  dlbench run fcn-r --frameworks onednn --quick     a first verified number\n"
      "  dlbench frameworks list                           what else can be had\n"
      "Exit status: 0 done; 1 an unequal network or a failed launch; 2 wrong usage or input;\n"
      "3 nothing could be decided; 130 interrupted (--resume goes on). See docs/.");
  AddRunCommand(app, context);
  AddVerifyCommand(app, context);
  AddReportCommand(app, context);
  AddCheckCommand(app, context);
  AddNetworksCommand(app, context);
  AddDataCommand(app, context);
  AddFrameworksCommand(app, context);
  AddFrameworksCheckCommand(app, context);
  AddMachineCommand(app, context);
  AddDoctorCommand(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are "errors" with status 0.
    if (error.get_exit_code() != 0) {
      if (const std::string what = ExplainUnknownWord(app, argc, argv); !what.empty()) {
        err << "dlbench: " << what << '\n';
        return kUsageError;
      }
    }
    const int status = app.exit(error, out, err);
    return status == 0 ? kDone : kUsageError;
  }
  out.flush();
  if (!out) {
    err << "dlbench: the output could not be written\n";
    return kUsageError;
  }
  return context.exit_status;
}

}  // namespace dlbench::cli
