#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlbench::worker {

/// One line of the system's process table (proc(5), /proc/PID/stat).
struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';  ///< 'Z' is ended and not yet reaped.
  std::string name;
  double cpu_seconds = 0.0;        ///< User and system, with ended threads; tick resolution.
  double child_cpu_seconds = 0.0;  ///< Of children that it has waited for.
  std::uint64_t start_ticks = 0;   ///< Since boot; with the pid it names a process for good.
};

/// Parses the text of /proc/PID/stat, whose name may hold blanks and parentheses.
std::optional<ProcessInfo> ParseProcessStat(std::string_view text);
/// All processes that can be seen, zombies included.
std::vector<ProcessInfo> ReadProcessTable();

/// Finds the processes of one launch, also those that have left its process group and session.
/// Belongs: the first process, its session, all descendants, whatever carries the launch's mark in
/// its environment and has been orphaned to us, and whatever belonged before.
class LaunchMembers {
 public:
  /// `root`: the process started. `mark`: "NAME=VALUE", unique, in its environment.
  LaunchMembers(pid_t root, std::string mark) : root_(root), mark_(std::move(mark)) {}

  /// The members now, the first process included, those ended and not yet reaped included.
  std::vector<ProcessInfo> Find();

 private:
  bool CarriesMark(pid_t pid) const;

  pid_t root_;
  std::string mark_;
  std::map<pid_t, std::uint64_t> seen_;  // Pid to start time.
};

}  // namespace dlbench::worker
