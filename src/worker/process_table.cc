#include "worker/process_table.h"

#include <dirent.h>
#include <unistd.h>

#include <memory>

#include "core/file.h"
#include "core/text.h"

namespace dlbench::worker {
namespace {

/// Largest piece of /proc that is read in one go; environments are limited by the system's
/// argument limit (2 MiB by default).
constexpr std::uint64_t kProcFileLimit = 8ULL << 20;

std::optional<ProcessInfo> ReadProcess(pid_t pid) {
  const auto text = ReadFile("/proc/" + std::to_string(pid) + "/stat", kProcFileLimit);
  return text.ok() ? ParseProcessStat(*text) : std::nullopt;
}

}  // namespace

std::optional<ProcessInfo> ParseProcessStat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  ProcessInfo info;
  const auto pid = ParseInt(Trim(text.substr(0, open)));
  info.name = std::string(text.substr(open + 1, close - open - 1));
  const std::vector<std::string> fields = Split(Trim(text.substr(close + 1)), ' ');
  // Fields of proc(5) counted from 3, "state": 4 ppid, 5 pgrp, 6 session, 14-17 times, 22 start.
  if (!pid || fields.size() < 20 || fields[0].size() != 1) return std::nullopt;
  const auto number = [&](std::size_t field) { return ParseInt(fields[field - 3]).value_or(0); };
  static const double ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  info.pid = static_cast<pid_t>(*pid);
  info.state = fields[0][0];
  info.parent = static_cast<pid_t>(number(4));
  info.group = static_cast<pid_t>(number(5));
  info.session = static_cast<pid_t>(number(6));
  info.cpu_seconds = static_cast<double>(number(14) + number(15)) / ticks_per_second;
  info.child_cpu_seconds = static_cast<double>(number(16) + number(17)) / ticks_per_second;
  info.start_ticks = static_cast<std::uint64_t>(number(22));
  return info;
}

std::vector<ProcessInfo> ReadProcessTable() {
  std::vector<ProcessInfo> table;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) return table;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = ParseInt(entry->d_name);
    if (!pid) continue;
    if (auto info = ReadProcess(static_cast<pid_t>(*pid))) table.push_back(std::move(*info));
  }
  return table;
}

bool LaunchMembers::CarriesMark(pid_t pid) const {
  const auto text = ReadFile("/proc/" + std::to_string(pid) + "/environ", kProcFileLimit);
  if (!text.ok()) return false;
  const std::size_t at = text->find(mark_);
  return at != std::string::npos && (at == 0 || (*text)[at - 1] == '\0');
}

std::vector<ProcessInfo> LaunchMembers::Find() {
  const std::vector<ProcessInfo> table = ReadProcessTable();
  const pid_t self = ::getpid();
  std::set<pid_t> members;
  for (const ProcessInfo& info : table) {
    const auto before = seen_.find(info.pid);
    const bool known = before != seen_.end() && before->second == info.start_ticks;
    // Only an orphan's environment is looked at: that is what leaving everything else needs.
    const bool orphan = info.parent == self && info.pid != root_ && info.state != 'Z';
    if (known || info.pid == root_ || info.session == root_ || (orphan && CarriesMark(info.pid))) {
      members.insert(info.pid);
    }
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const ProcessInfo& info : table) {
      if (members.count(info.parent) > 0) grown = members.insert(info.pid).second || grown;
    }
  }
  std::vector<ProcessInfo> found;
  seen_.clear();
  for (const ProcessInfo& info : table) {
    if (members.count(info.pid) == 0) continue;
    seen_[info.pid] = info.start_ticks;
    found.push_back(info);
  }
  return found;
}

}  // namespace dlbench::worker
