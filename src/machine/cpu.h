#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace dlbench::machine {

/// The first line of a small file of /proc or /sys, trimmed; nothing if absent or empty.
std::optional<std::string> ReadLine(const std::filesystem::path& path);

/// A kernel CPU list, "0-3,8" -> {0,1,2,3,8}; empty text gives no CPUs. kInput for anything else
/// (reversed ranges, numbers of a million or more).
Result<std::vector<int>> ParseCpuList(std::string_view text);

/// What /proc/cpuinfo says of the first processor.
struct CpuInfo {
  std::string vendor;              ///< "GenuineIntel"; empty if not said.
  std::string model;               ///< "Intel(R) Xeon(R) Processor"; empty if not said.
  std::vector<std::string> flags;  ///< All feature flags, in the kernel's words.

  bool Has(std::string_view flag) const;
};
/// Never fails: what cannot be read stays empty.
CpuInfo ParseCpuInfo(std::string_view text);
/// Those of `info.flags` that change what frameworks compute with, in a fixed order.
std::vector<std::string> IsaOf(const CpuInfo& info);

/// The scaling governor of all CPUs ("performance"; several are joined by ", "); absent: unknown.
std::optional<std::string> ReadGovernor(const std::filesystem::path& root);
/// Whether the clock may rise above its nominal value; absent: unknown.
std::optional<bool> ReadBoost(const std::filesystem::path& root);
/// "wsl", "kvm", "vmware", ..., "unnamed" (a hypervisor that does not say its name), "none";
/// absent: unknown. The processor itself is asked only where `root` is "/".
std::optional<std::string> ReadVirtualization(const std::filesystem::path& root,
                                              const CpuInfo& info, std::string_view kernel);
/// Readings that benchmarks like to have and this machine does not offer, in words.
std::vector<std::string> ReadUnavailable(const std::filesystem::path& root);

}  // namespace dlbench::machine
