#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace dlbench::frameworks {

/// How a finished command ended and what it printed.
struct CommandResult {
  int exit_status = 0;        ///< Meaningful without a signal.
  std::optional<int> signal;  ///< What ended it.
  bool timed_out = false;     ///< Ended by us after the limit.
  std::string out;            ///< stdout, at most 1 MiB (the end is dropped).
  std::string err;            ///< stderr, likewise.

  bool ok() const { return exit_status == 0 && !signal && !timed_out; }
  /// "exit status 1", "signal 9 (Killed)", "no answer within 60 s".
  std::string HowItEnded() const;
};

/// What to run.
struct Command {
  std::vector<std::string> argv;                   ///< argv[0] is looked up in PATH.
  std::map<std::string, std::string> environment;  ///< Added to our own.
  std::vector<std::string> unset;                  ///< Variables taken out of our own.
  std::optional<std::chrono::seconds> limit;       ///< None: as long as it takes.
  std::function<void(const std::string&)> line;    ///< Each line of both streams; may be empty.
};

/// Runs it to its end, stdin empty. It dies with us (PR_SET_PDEATHSIG), and so does a lock that it
/// inherited. kNotFound when there is no such program.
Result<CommandResult> RunCommand(const Command& command);

/// The program's full path: itself when it names a folder, else the first executable in PATH.
std::optional<std::string> FindProgram(const std::string& name);

/// The last `count` lines of a text, without empty ones at its end.
std::string LastLines(const std::string& text, int count);

}  // namespace dlbench::frameworks
