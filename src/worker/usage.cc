#include "worker/usage.h"

#include <dirent.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>

#include "core/file.h"
#include "core/text.h"

namespace dlbench::worker {
namespace {

constexpr std::uint64_t kProcFileLimit = 1ULL << 20;

std::string ProcFolder(pid_t pid) { return "/proc/" + std::to_string(pid); }

/// The process's clock has nanoseconds; the table's times have ticks of 10 ms.
double ProcessCpuSeconds(const ProcessInfo& info) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(info.pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return info.cpu_seconds;
  }
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct TaskTimes {
  double on_processor = 0.0, waited = 0.0;  ///< Seconds.
};

/// schedstat: nanoseconds on a processor, nanoseconds of waiting for one, and more; kernels without
/// it have ticks.
TaskTimes ReadTaskTimes(const std::string& folder) {
  if (const auto text = ReadFile(folder + "/schedstat", kProcFileLimit); text.ok()) {
    const std::vector<std::string> fields = Split(Trim(*text), ' ');
    const auto ran = ParseInt(fields[0]);
    const auto waited = fields.size() > 1 ? ParseInt(fields[1]) : std::nullopt;
    if (ran && *ran > 0) {
      return {static_cast<double>(*ran) * 1e-9,
              static_cast<double>(std::max<std::int64_t>(waited.value_or(0), 0)) * 1e-9};
    }
  }
  const auto text = ReadFile(folder + "/stat", kProcFileLimit);
  const auto info = text.ok() ? ParseProcessStat(*text) : std::nullopt;
  return {info ? info->cpu_seconds : 0.0, 0.0};
}

std::vector<pid_t> TasksOf(pid_t pid) {
  std::vector<pid_t> tasks;
  const std::string path = ProcFolder(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return tasks;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (const auto task = ParseInt(entry->d_name)) tasks.push_back(static_cast<pid_t>(*task));
  }
  return tasks;
}

template <class Visit>
void ForEachTask(const std::vector<ProcessInfo>& members, const Visit& visit) {
  for (const ProcessInfo& info : members) {
    for (const pid_t task : TasksOf(info.pid)) {
      const std::string folder = ProcFolder(info.pid) + "/task/" + std::to_string(task);
      const auto name = ReadFile(folder + "/comm", kProcFileLimit);
      visit(info.pid, task, name.ok() ? Printable(Trim(*name)) : "?", ReadTaskTimes(folder));
    }
  }
}

std::uint64_t ProportionalBytes(pid_t pid, std::uint64_t otherwise) {
  const auto text = ReadFile(ProcFolder(pid) + "/smaps_rollup", kProcFileLimit);
  if (!text.ok()) return otherwise;
  const std::uint64_t bytes = StatusBytes(*text, "Pss:");
  return bytes > 0 ? bytes : otherwise;
}

}  // namespace

double GroupCpuSeconds(const std::vector<ProcessInfo>& members) {
  double seconds = 0.0;
  for (const ProcessInfo& info : members) {
    seconds += ProcessCpuSeconds(info) + info.child_cpu_seconds;
  }
  return seconds;
}

std::uint64_t StatusBytes(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    std::string_view rest = text.substr(at + key.size());
    rest = Trim(rest.substr(0, rest.find('\n')));
    const auto kibibytes = ParseInt(rest.substr(0, rest.find(' ')));
    return kibibytes && *kibibytes > 0 ? static_cast<std::uint64_t>(*kibibytes) * 1024 : 0;
  }
  return 0;
}

GroupMemory ReadGroupMemory(const std::vector<ProcessInfo>& members,
                            std::uint64_t exact_above_bytes) {
  GroupMemory memory;
  std::vector<std::pair<pid_t, std::uint64_t>> resident;
  for (const ProcessInfo& info : members) {
    const auto text = ReadFile(ProcFolder(info.pid) + "/status", kProcFileLimit);
    if (!text.ok()) continue;
    resident.emplace_back(info.pid, StatusBytes(*text, "VmRSS:"));
    memory.resident_bytes += resident.back().second;
    memory.peak_bytes += StatusBytes(*text, "VmHWM:");
  }
  if (resident.size() > 1 && memory.resident_bytes > exact_above_bytes) {
    memory.resident_bytes = 0;
    for (const auto& [pid, bytes] : resident)
      memory.resident_bytes += ProportionalBytes(pid, bytes);
    // High-water marks cannot be told apart; several processes' sum would accuse the innocent.
    memory.peak_bytes = memory.resident_bytes;
  }
  return memory;
}

void ThreadWatch::Begin(const std::vector<ProcessInfo>& members) {
  tasks_.clear();
  ForEachTask(members, [&](pid_t pid, pid_t task, const std::string& name, const TaskTimes& now) {
    const Times times{now.on_processor, now.waited};
    tasks_[{pid, task}] = {name, times, times};
  });
}

void ThreadWatch::Look(const std::vector<ProcessInfo>& members) {
  ForEachTask(members, [&](pid_t pid, pid_t task, const std::string& name, const TaskTimes& now) {
    Usage& usage = tasks_[{pid, task}];
    usage.name = name;
    usage.latest.on_processor = std::max(usage.latest.on_processor, now.on_processor);
    usage.latest.waited = std::max(usage.latest.waited, now.waited);
  });
}

std::vector<ThreadWatch::Busy> ThreadWatch::BusierThan(double seconds) const {
  std::vector<Busy> busy;
  for (const auto& [key, usage] : tasks_) {
    const double used = usage.latest.on_processor - usage.first.on_processor;
    if (used >= seconds && used > 0.0) busy.push_back({usage.name, used});
  }
  std::sort(busy.begin(), busy.end(),
            [](const Busy& a, const Busy& b) { return a.cpu_seconds > b.cpu_seconds; });
  return busy;
}

double ThreadWatch::WaitedSeconds() const {
  double seconds = 0.0;
  for (const auto& [key, usage] : tasks_) seconds += usage.latest.waited - usage.first.waited;
  return seconds;
}

}  // namespace dlbench::worker
