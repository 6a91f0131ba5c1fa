#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace dlbench::machine {

/// A limit as read: absent value means "no limit". kInput errors are for text that is neither.
using Limit = std::optional<double>;

/// cgroup v2 "cpu.max": "150000 100000" -> 1.5 CPUs, "max 100000" -> no limit.
Result<Limit> ParseCpuMax(std::string_view text);
/// cgroup v1 "cpu.cfs_quota_us" and "cpu.cfs_period_us": -1 -> no limit.
Result<Limit> ParseCfsQuota(std::string_view quota, std::string_view period);
/// Bytes of "memory.max" or "memory.limit_in_bytes"; "max" -> no limit.
Result<std::optional<std::uint64_t>> ParseMemoryLimit(std::string_view text);
/// "nr_throttled" of a "cpu.stat".
std::optional<std::uint64_t> ParseThrottled(std::string_view text);

/// One line of /proc/self/mountinfo that mounts a control group hierarchy.
struct CgroupMount {
  std::string root;                      ///< The group that the mount shows at its top.
  std::string point;                     ///< Where it is mounted.
  bool unified = false;                  ///< cgroup v2.
  std::vector<std::string> controllers;  ///< v1 only.
};
/// Lines that mount something else, or are malformed, are left out.
std::vector<CgroupMount> ParseMounts(std::string_view mountinfo);

/// The limits that hold for this process: the smallest of its group and all groups above it.
struct CgroupLimits {
  Limit cpus;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> throttled_periods;  ///< Of its own group.
  std::vector<std::string> warnings;               ///< Files that hold neither number nor "max".
};
/// Reads /proc/self/cgroup, /proc/self/mountinfo and the group files under `root`, versions 1
/// and 2. Missing files mean no limit.
CgroupLimits ReadCgroupLimits(const std::filesystem::path& root);

}  // namespace dlbench::machine
