#pragma once

#include <cstdint>
#include <string>

namespace dlbench {

/// Source of time. Durations come from MonotonicNs alone; the calendar time is only ever a label.
class Clock {
 public:
  virtual ~Clock() = default;
  /// CLOCK_MONOTONIC in nanoseconds.
  virtual std::int64_t MonotonicNs() = 0;
  /// UTC calendar time as "2026-11-30T23:05:00Z", a label never used in arithmetic.
  virtual std::string CalendarLabel() = 0;
};

/// The operating system's clock.
class SystemClock final : public Clock {
 public:
  std::int64_t MonotonicNs() override;
  std::string CalendarLabel() override;
};

}  // namespace dlbench
