#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iosfwd>
#include <vector>

#include "core/result.h"
#include "frameworks/frameworks.h"

namespace dlbench::cli {

/// Exit statuses, one table (docs/exit-status.md).
enum ExitStatus {
  kDone = 0,
  kBadResult = 1,      ///< A regression, an unequal network or a failed launch.
  kUsageError = 2,     ///< Wrong usage or input.
  kUnresolved = 3,     ///< Unresolved or unfit.
  kInterrupted = 130,  ///< Stopped by SIGINT or SIGTERM; what was done is stored.
};

/// What every command gets: where things are and where to write.
struct Context {
  frameworks::Places places;
  std::vector<std::filesystem::path> network_folders;
  std::ostream* out = nullptr;  ///< Data.
  std::ostream* err = nullptr;  ///< Progress, warnings, errors.
  int exit_status = kDone;      ///< Set by the command that ran.
};

/// Prints "dlbench: <message>" to `context.err` and sets the exit status for the error's code.
void Fail(Context& context, const Error& error);

/// Each adds its subcommand to `app`; the subcommand's callback runs it with `context`, which must
/// outlive `app`.
void AddNetworksCommand(CLI::App& app, Context& context);
void AddDataCommand(CLI::App& app, Context& context);
void AddFrameworksCommand(CLI::App& app, Context& context);
/// Adds `check` to the frameworks command, which must be there already.
void AddFrameworksCheckCommand(CLI::App& app, Context& context);
void AddMachineCommand(CLI::App& app, Context& context);
void AddDoctorCommand(CLI::App& app, Context& context);
void AddVerifyCommand(CLI::App& app, Context& context);
void AddRunCommand(CLI::App& app, Context& context);
void AddReportCommand(CLI::App& app, Context& context);
void AddCheckCommand(CLI::App& app, Context& context);

}  // namespace dlbench::cli
