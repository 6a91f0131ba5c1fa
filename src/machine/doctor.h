#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace dlbench::machine {

/// What Diagnose asks of the system besides files; a test puts its own in its place.
class SystemProbe {
 public:
  virtual ~SystemProbe() = default;
  /// Standard output of a program that ended with status 0 within ten seconds.
  std::optional<std::string> Output(const std::vector<std::string>& command) const {
    return DoOutput(command);
  }
  /// Bytes free for this user where `folder`, or the nearest folder above it that exists, lies.
  std::optional<std::uint64_t> FreeBytes(const std::filesystem::path& folder) const {
    return DoFreeBytes(folder);
  }

 private:
  virtual std::optional<std::string> DoOutput(const std::vector<std::string>& command) const = 0;
  virtual std::optional<std::uint64_t> DoFreeBytes(const std::filesystem::path& folder) const = 0;
};

/// The folders that dlbench writes to.
struct WrittenFolders {
  std::filesystem::path data, cache, results;
};
/// Diagnose with its system and folders given.
std::vector<Finding> DiagnoseWith(const Machine& machine, const std::filesystem::path& root,
                                  const SystemProbe& probe, const WrittenFolders& folders);

}  // namespace dlbench::machine
