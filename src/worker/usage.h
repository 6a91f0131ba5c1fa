#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/process_table.h"

namespace dlbench::worker {

/// Processor time of the given processes in seconds, with their ended threads and the children that
/// they have waited for. Processes that have ended meanwhile count nothing.
double GroupCpuSeconds(const std::vector<ProcessInfo>& members);

/// Memory of a set of processes.
struct GroupMemory {
  std::uint64_t resident_bytes = 0;  ///< Now. Shared pages are counted once where it matters.
  std::uint64_t peak_bytes = 0;      ///< Sum of the processes' high-water marks: an upper bound.
};
/// Reads /proc/PID/status. With several processes, pages shared by them are told apart through
/// smaps_rollup (which is slow) only when the plain sum exceeds `exact_above_bytes`.
GroupMemory ReadGroupMemory(const std::vector<ProcessInfo>& members,
                            std::uint64_t exact_above_bytes);

/// Bytes behind `key` ("VmHWM:") in the text of /proc/PID/status or smaps_rollup; 0 if absent.
std::uint64_t StatusBytes(std::string_view text, std::string_view key);

/// Which threads worked during a run, and how much; how long they had to wait for a processor.
class ThreadWatch {
 public:
  /// One thread's processor time between Begin and the latest Look.
  struct Busy {
    std::string name;
    double cpu_seconds = 0.0;
  };

  /// Notes what every thread of `members` has used so far.
  void Begin(const std::vector<ProcessInfo>& members);
  /// Looks again; threads seen for the first time count from zero.
  void Look(const std::vector<ProcessInfo>& members);
  /// The threads that used at least `seconds`, busiest first.
  std::vector<Busy> BusierThan(double seconds) const;
  /// Seconds for which threads could have run but had no processor, all threads together, between
  /// Begin and the latest Look. 0 where the kernel does not say (CONFIG_SCHED_INFO).
  double WaitedSeconds() const;

 private:
  struct Times {
    double on_processor = 0.0, waited = 0.0;
  };
  struct Usage {
    std::string name;
    Times first, latest;
  };
  using TaskKey = std::pair<pid_t, pid_t>;
  std::map<TaskKey, Usage> tasks_;
};

}  // namespace dlbench::worker
