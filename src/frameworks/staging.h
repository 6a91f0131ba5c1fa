#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/file.h"
#include "core/result.h"
#include "frameworks/command.h"
#include "frameworks/frameworks.h"

namespace dlbench::frameworks {

/// Held while one process changes the environments of one framework. Children inherit it, so that
/// it outlives us as long as a child of ours still writes.
class InstallLock {
 public:
  /// kFailed when another process holds it, saying which.
  static Result<InstallLock> Take(const Places& places, const std::string& name);

 private:
  explicit InstallLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

/// A folder in which an environment is made, out of everyone's sight until Publish() renames it.
/// Destroyed without that, it is deleted, and its log is kept beside the environments.
class Staging {
 public:
  /// Deletes first what a killed install of `name` left. The caller holds the InstallLock.
  static Result<Staging> Make(const Places& places, const std::string& name,
                              const ProgressLine& progress);
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&&) = delete;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  const std::filesystem::path& folder() const { return folder_; }
  /// Where the log of a failed install stays.
  const std::filesystem::path& failed_log() const { return failed_log_; }
  /// Runs `command` and appends the command line and what it prints to install.log. A failure
  /// becomes an error: "WHAT: exit status 1: last lines; the whole log: PATH".
  Result<CommandResult> Run(const std::string& what, Command command);
  /// Appends a line to install.log.
  void Log(const std::string& line);
  /// Renames the folder to environments/`id`, replacing an older one of that name.
  Status Publish(const std::string& id);

 private:
  Staging(std::filesystem::path folder, std::filesystem::path failed_log);
  std::filesystem::path folder_;  ///< Empty once published.
  std::filesystem::path failed_log_;
};

/// Bytes that the files below `folder` take on disk.
std::uint64_t DiskBytes(const std::filesystem::path& folder);
/// "1.2 GB", "190 MB" (10^9, 10^6 bytes).
std::string SizeText(std::uint64_t bytes);

}  // namespace dlbench::frameworks
