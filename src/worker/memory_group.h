#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/file.h"

namespace dlbench::worker {

/// Where a cgroup v2 of ours can be made: the folder above our own group, if the memory controller
/// is enabled for its children and we may write there (a user's systemd session, a delegated
/// container). Nothing otherwise: then memory is watched by sampling.
std::optional<std::filesystem::path> FindDelegatedGroup();

/// A cgroup v2 with a memory limit for one launch. Removed at destruction; by then it is empty.
class MemoryGroup {
 public:
  /// Makes `parent`/`name` with `limit_bytes` and no swap; nothing if the system refuses.
  static std::optional<MemoryGroup> Create(const std::filesystem::path& parent,
                                           const std::string& name, std::uint64_t limit_bytes);
  MemoryGroup(MemoryGroup&&) = default;
  MemoryGroup& operator=(MemoryGroup&&) = delete;
  ~MemoryGroup();

  /// Open for writing: a process that writes "0" here joins.
  int join_fd() const { return join_.get(); }
  /// How often the kernel has killed in this group for memory (memory.events, oom_kill).
  std::uint64_t OomKills() const;
  /// Largest memory charged to the group, file pages included; nothing where not known.
  std::optional<std::uint64_t> PeakBytes() const;
  /// Kills whatever is left in the group (cgroup.kill, Linux 5.14).
  void Kill() const;

 private:
  MemoryGroup(std::filesystem::path folder, UniqueFd join)
      : folder_(std::move(folder)), join_(std::move(join)) {}

  std::filesystem::path folder_;
  UniqueFd join_;
};

/// How often the kernel has killed any process for memory since boot (/proc/vmstat, oom_kill).
std::uint64_t SystemOomKills();

}  // namespace dlbench::worker
