#include "machine/disturbance.h"

#include <unistd.h>

#include <ctime>

#include "core/file.h"
#include "core/text.h"

namespace dlbench::machine {
namespace {

double SecondsOf(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

std::optional<double> ParseBusySeconds(std::string_view stat, double ticks) {
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guest time is within user.
  const std::string_view line = stat.substr(0, stat.find('\n'));
  if (!line.starts_with("cpu ") || ticks <= 0) return std::nullopt;
  double busy = 0;
  int column = 0;
  for (const std::string& word : Split(line.substr(4), ' ')) {
    if (word.empty()) continue;
    const auto value = ParseInt(word);
    if (!value || *value < 0) return std::nullopt;
    const bool idle = column == 3 || column == 4;
    if (!idle && column < 8) busy += static_cast<double>(*value);
    ++column;
  }
  if (column < 4) return std::nullopt;
  return busy / ticks;
}

std::optional<double> BusySeconds(const std::filesystem::path& root) {
  const Result<std::string> stat = ReadFile(root / "proc/stat");
  if (!stat.ok()) return std::nullopt;
  return ParseBusySeconds(*stat, static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

DisturbanceWatch::DisturbanceWatch(std::filesystem::path root)
    : root_(std::move(root)),
      busy_(BusySeconds(root_)),
      own_(SecondsOf(CLOCK_PROCESS_CPUTIME_ID)),
      wall_(SecondsOf(CLOCK_MONOTONIC)) {}

bool DisturbanceWatch::Disturbed(int threads) const {
  const double wall = SecondsOf(CLOCK_MONOTONIC) - wall_;
  const double own = SecondsOf(CLOCK_PROCESS_CPUTIME_ID) - own_;
  if (own < 0.9 * threads * wall) return true;
  const std::optional<double> busy = BusySeconds(root_);
  if (!busy_ || !busy) return false;
  // The counters move in steps of 10 ms on each CPU, and not at the same moment as the process's
  // own.
  constexpr double kGrain = 0.03;
  return *busy - *busy_ - own > 0.05 * wall + kGrain;
}

}  // namespace dlbench::machine
