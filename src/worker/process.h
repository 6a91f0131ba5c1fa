#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/file.h"
#include "core/result.h"

namespace dlbench::worker {

/// How a process ended: exactly one of the two.
struct ExitStatus {
  std::optional<int> code;    ///< It ended by itself with this status.
  std::optional<int> signal;  ///< It was ended by this signal.
};
/// "exited with status 3" or "was ended by signal 11 (Segmentation fault)".
std::string ToString(const ExitStatus& status);

/// What to start and how.
struct ProcessSpec {
  std::vector<std::string> argv;         ///< argv[0]: a path, or a name looked up in PATH.
  std::vector<std::string> environment;  ///< "NAME=VALUE", all of it.
  std::filesystem::path folder;          ///< Working directory.
  int join_group_fd = -1;                ///< Written "0" by the child before it starts (cgroup).
};

/// The descriptors that a started process has for requests and replies.
constexpr int kRequestFd = 3;
constexpr int kReplyFd = 4;

/// One child process, leader of a session and process group of its own. It has /dev/null as stdin,
/// pipes as stdout, stderr, kRequestFd and kReplyFd, and no other descriptor. It is killed when the
/// thread that started it ends (so also when dlbench is killed). Owns the process: the destructor
/// kills and reaps it. Descendants are the business of the caller (LaunchMembers).
class Process {
 public:
  /// Starts it; returns once the program runs, or with the reason why it cannot.
  static Result<Process> Spawn(const ProcessSpec& spec);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  /// Becomes readable when the process ends; -1 on kernels without pidfd (before 5.3).
  int pidfd() const { return pidfd_.get(); }
  /// Our ends of the pipes, non-blocking. Given away by moving.
  UniqueFd request, reply, out, err;

  /// How it ended, once it has; its number stays taken until Reap.
  std::optional<ExitStatus> Ended() const;
  /// Waits at most `limit` for its end.
  std::optional<ExitStatus> WaitFor(std::chrono::milliseconds limit) const;
  /// Sends `signal` to the whole process group.
  void SignalGroup(int signal) const;
  /// Frees the number of a process that has ended.
  void Reap();

 private:
  Process() = default;
  pid_t pid_ = -1;
  bool reaped_ = false;
  UniqueFd pidfd_;
};

/// Makes orphaned descendants our children, so that they can be found and ended. For the whole
/// program and for good (prctl(2), PR_SET_CHILD_SUBREAPER).
void AdoptOrphans();

}  // namespace dlbench::worker
