#include "machine/cgroup.h"

#include <algorithm>

#include "core/file.h"
#include "core/text.h"
#include "machine/cpu.h"
#include "machine/machine.h"

namespace dlbench::machine {
namespace {

namespace fs = std::filesystem;

Error Bad(std::string_view text, const char* expected) {
  return {ErrorCode::kInput,
          "holds '" + Printable(text.substr(0, 40)) + "' where " + expected + " is expected"};
}

/// Words of `text`, split at blanks and line ends.
std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string(text) + " ") {
    if (c != ' ' && c != '\t' && c != '\n') {
      word.push_back(c);
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

/// This process's group, by hierarchy, from /proc/self/cgroup ("4:memory:/a", "0::/b").
struct Membership {
  std::vector<std::string> controllers;  ///< Empty: the unified hierarchy.
  std::string path;
};

std::vector<Membership> ParseMembership(std::string_view text) {
  std::vector<Membership> memberships;
  for (const std::string& line : Split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    memberships.push_back(
        {names.empty() ? std::vector<std::string>{} : Split(names, ','), line.substr(second + 1)});
  }
  return memberships;
}

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Folders of this process's group and of all above it that `mount` shows, innermost first.
std::vector<fs::path> GroupFolders(const fs::path& root, const CgroupMount& mount,
                                   const std::string& group) {
  std::string inner = group;
  if (mount.root != "/" && inner.starts_with(mount.root)) inner = inner.substr(mount.root.size());
  const fs::path relative = fs::path(inner).relative_path().lexically_normal();
  const fs::path top = root / fs::path(mount.point).relative_path();
  std::vector<fs::path> folders;
  const bool outside = std::any_of(relative.begin(), relative.end(),
                                   [](const fs::path& part) { return part == ".."; });
  if (!outside) {  // A group outside the namespace is not shown: only the top is.
    for (fs::path part = relative; !part.empty() && part != "."; part = part.parent_path()) {
      folders.push_back(top / part);
    }
  }
  folders.push_back(top);
  return folders;
}

/// Collects limits, keeping the smallest, and complaints about what cannot be read as one.
class Collector {
 public:
  explicit Collector(CgroupLimits& limits) : limits_(limits) {}

  void CpuV2(const fs::path& folder) {
    if (const auto text = ReadLine(folder / "cpu.max")) {
      TakeCpus(ParseCpuMax(*text), folder / "cpu.max");
    }
  }
  void CpuV1(const fs::path& folder) {
    const auto quota = ReadLine(folder / "cpu.cfs_quota_us");
    const auto period = ReadLine(folder / "cpu.cfs_period_us");
    if (quota && period) TakeCpus(ParseCfsQuota(*quota, *period), folder / "cpu.cfs_quota_us");
  }
  void Memory(const fs::path& file) {
    const auto text = ReadLine(file);
    if (!text) return;
    const auto bytes = ParseMemoryLimit(*text);
    if (!bytes.ok()) return Complain(file, bytes.error());
    if (*bytes) limits_.memory_bytes = std::min(limits_.memory_bytes.value_or(**bytes), **bytes);
  }
  void Throttled(const fs::path& folder) {
    const Result<std::string> text = ReadFile(folder / "cpu.stat", 1U << 16);
    if (text.ok() && !limits_.throttled_periods) {
      limits_.throttled_periods = ParseThrottled(*text);
    }
  }

 private:
  void TakeCpus(const Result<Limit>& limit, const fs::path& file) {
    if (!limit.ok()) return Complain(file, limit.error());
    if (*limit) limits_.cpus = std::min(limits_.cpus.value_or(**limit), **limit);
  }
  void Complain(const fs::path& file, const Error& error) {
    limits_.warnings.push_back("'" + Printable(file.string()) + "' " + error.message() +
                               "; taken as no limit");
  }

  CgroupLimits& limits_;
};

/// Where groups usually are, for machines whose /proc/self says nothing.
std::vector<CgroupMount> UsualMounts() {
  return {{"/", "/sys/fs/cgroup", true, {}},
          {"/", "/sys/fs/cgroup/cpu", false, {"cpu"}},
          {"/", "/sys/fs/cgroup/cpu,cpuacct", false, {"cpu"}},
          {"/", "/sys/fs/cgroup/memory", false, {"memory"}}};
}

}  // namespace

Result<Limit> ParseCpuMax(std::string_view text) {
  const std::vector<std::string> words = Words(text);
  if (words.empty() || words.size() > 2) return Bad(text, "'QUOTA PERIOD' or 'max PERIOD'");
  const auto period = words.size() == 2 ? ParseInt(words[1]) : std::optional<std::int64_t>(100000);
  if (!period || *period <= 0) return Bad(text, "a period in microseconds");
  if (words[0] == "max") return Limit();
  const auto quota = ParseInt(words[0]);
  if (!quota || *quota <= 0) return Bad(text, "a quota in microseconds");
  return Limit(static_cast<double>(*quota) / static_cast<double>(*period));
}

Result<Limit> ParseCfsQuota(std::string_view quota, std::string_view period) {
  const auto quota_us = ParseInt(Trim(quota));
  const auto period_us = ParseInt(Trim(period));
  if (!quota_us || *quota_us == 0 || *quota_us < -1) return Bad(quota, "a quota in microseconds");
  if (!period_us || *period_us <= 0) return Bad(period, "a period in microseconds");
  if (*quota_us == -1) return Limit();
  return Limit(static_cast<double>(*quota_us) / static_cast<double>(*period_us));
}

Result<std::optional<std::uint64_t>> ParseMemoryLimit(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  // Version 1 writes "no limit" as the largest multiple of the page size in 63 bits.
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
  if (trimmed == "max") return std::optional<std::uint64_t>();
  const auto bytes = ParseInt(trimmed);
  if (!bytes || *bytes < 0) return Bad(text, "a number of bytes");
  if (*bytes >= kNoLimit) return std::optional<std::uint64_t>();
  return std::optional<std::uint64_t>(static_cast<std::uint64_t>(*bytes));
}

std::optional<std::uint64_t> ParseThrottled(std::string_view text) {
  for (const std::string& line : Split(text, '\n')) {
    const std::vector<std::string> words = Words(line);
    if (words.size() != 2 || words[0] != "nr_throttled") continue;
    const auto count = ParseInt(words[1]);
    if (count && *count >= 0) return static_cast<std::uint64_t>(*count);
  }
  return std::nullopt;
}

std::vector<CgroupMount> ParseMounts(std::string_view mountinfo) {
  // 35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
  std::vector<CgroupMount> mounts;
  for (const std::string& line : Split(mountinfo, '\n')) {
    const std::vector<std::string> words = Words(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const std::string& type = dash[1];
    if (type != "cgroup" && type != "cgroup2") continue;
    CgroupMount mount{words[3], words[4], type == "cgroup2", {}};
    if (!mount.unified) mount.controllers = Split(dash[3], ',');
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

CgroupLimits ReadCgroupLimits(const fs::path& root) {
  CgroupLimits limits;
  Collector collect(limits);
  const auto membership = ParseMembership(ReadFile(root / "proc/self/cgroup").ok()
                                              ? *ReadFile(root / "proc/self/cgroup")
                                              : std::string());
  const auto mountinfo = ReadFile(root / "proc/self/mountinfo");
  std::vector<CgroupMount> mounts;
  if (mountinfo.ok()) mounts = ParseMounts(*mountinfo);
  if (mounts.empty()) mounts = UsualMounts();
  const auto group_in = [&](const CgroupMount& mount, const std::string& controller) {
    for (const Membership& member : membership) {
      if (mount.unified ? member.controllers.empty() : Contains(member.controllers, controller)) {
        return member.path;
      }
    }
    return std::string("/");
  };
  for (const CgroupMount& mount : mounts) {
    if (mount.unified || Contains(mount.controllers, "cpu")) {
      for (const fs::path& folder : GroupFolders(root, mount, group_in(mount, "cpu"))) {
        mount.unified ? collect.CpuV2(folder) : collect.CpuV1(folder);
        collect.Throttled(folder);
      }
    }
    if (mount.unified || Contains(mount.controllers, "memory")) {
      for (const fs::path& folder : GroupFolders(root, mount, group_in(mount, "memory"))) {
        collect.Memory(folder / (mount.unified ? "memory.max" : "memory.limit_in_bytes"));
      }
    }
  }
  return limits;
}

std::optional<std::uint64_t> ThrottledPeriods(const fs::path& root) {
  return ReadCgroupLimits(root).throttled_periods;
}

}  // namespace dlbench::machine
