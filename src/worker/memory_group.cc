#include "worker/memory_group.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <system_error>
#include <utility>

#include "core/text.h"

namespace dlbench::worker {
namespace {

constexpr std::uint64_t kSmallFile = 1ULL << 20;

/// The number behind "key " at the start of a line; nothing if there is none.
std::optional<std::uint64_t> ValueOf(std::string_view text, std::string_view key) {
  for (const std::string& line : Split(text, '\n')) {
    if (line.size() <= key.size() || line.compare(0, key.size(), key) != 0) continue;
    if (line[key.size()] != ' ') continue;
    const auto number = ParseInt(Trim(std::string_view(line).substr(key.size())));
    if (number && *number >= 0) return static_cast<std::uint64_t>(*number);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ValueIn(const std::filesystem::path& file, std::string_view key) {
  const auto text = ReadFile(file, kSmallFile);
  return text.ok() ? ValueOf(*text, key) : std::nullopt;
}

/// O_CREAT: in a cgroup the files exist; in the ordinary folder of a test they do not.
UniqueFd OpenToWrite(const std::filesystem::path& file) {
  return UniqueFd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

bool Put(const std::filesystem::path& file, std::string_view text) {
  const UniqueFd fd = OpenToWrite(file);
  return fd.valid() &&
         ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// The mount point of cgroup v2 (proc(5), mountinfo: "... - cgroup2 ...").
std::optional<std::filesystem::path> GroupMount() {
  const auto mounts = ReadFile("/proc/self/mountinfo", kSmallFile);
  if (!mounts.ok()) return std::nullopt;
  for (const std::string& line : Split(*mounts, '\n')) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    const std::vector<std::string> fields = Split(line, ' ');
    if (fields.size() > 4) return fields[4];
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::filesystem::path> FindDelegatedGroup() {
  const auto mount = GroupMount();
  const auto own = ReadFile("/proc/self/cgroup", kSmallFile);
  if (!mount || !own.ok()) return std::nullopt;
  for (const std::string& line : Split(*own, '\n')) {
    if (line.compare(0, 4, "0::/") != 0 || line == "0::/") continue;
    const auto parent = (*mount / line.substr(4)).parent_path();
    const auto enabled = ReadFile(parent / "cgroup.subtree_control", kSmallFile);
    if (!enabled.ok() || (" " + *enabled).find(" memory") == std::string::npos) continue;
    if (::access(parent.c_str(), W_OK) != 0) continue;
    // Moving a process needs the right to write the common ancestor's list of processes.
    if (::access((parent / "cgroup.procs").c_str(), W_OK) == 0) return parent;
  }
  return std::nullopt;
}

std::optional<MemoryGroup> MemoryGroup::Create(const std::filesystem::path& parent,
                                               const std::string& name, std::uint64_t limit_bytes) {
  const auto folder = parent / name;
  std::error_code error;
  if (!std::filesystem::create_directory(folder, error)) return std::nullopt;
  MemoryGroup group(folder, OpenToWrite(folder / "cgroup.procs"));
  if (!group.join_.valid()) return std::nullopt;
  if (!Put(folder / "memory.max", std::to_string(limit_bytes))) return std::nullopt;
  Put(folder / "memory.swap.max", "0");  // Refused where the system has no swap accounting.
  return group;
}

MemoryGroup::~MemoryGroup() {
  if (!folder_.empty()) ::rmdir(folder_.c_str());
}

std::uint64_t MemoryGroup::OomKills() const {
  return ValueIn(folder_ / "memory.events", "oom_kill").value_or(0);
}

std::optional<std::uint64_t> MemoryGroup::PeakBytes() const {
  const auto text = ReadFile(folder_ / "memory.peak", kSmallFile);
  const auto bytes = text.ok() ? ParseInt(Trim(*text)) : std::nullopt;
  if (!bytes || *bytes < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

void MemoryGroup::Kill() const { Put(folder_ / "cgroup.kill", "1"); }

std::uint64_t SystemOomKills() { return ValueIn("/proc/vmstat", "oom_kill").value_or(0); }

}  // namespace dlbench::worker
