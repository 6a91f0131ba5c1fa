#include "worker/run_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "worker/failure.h"

namespace dlbench::worker {
namespace {

/// Share of the time that the records must account for (case C02).
constexpr double kAccountedShare = 0.95;
/// Both clocks are CLOCK_MONOTONIC of one machine; this allows for their readings' order only.
constexpr std::int64_t kBracketSlackNs = 1'000'000;
/// Between two records: reading the clock and storing it, in Python about 1 microsecond.
constexpr double kPerRecordNs = 2'000.0;
/// Of a short run: being scheduled in, and waking up for the last record.
constexpr double kInsideSlackNs = 1'000'000.0;
/// Around the records: waking up on the request, reading it, and writing the answer. 30 ms is what
/// a busy two-core machine needs at times; 10 microseconds a record is Python's json at four
/// numbers.
constexpr double kAroundSlackNs = 30'000'000.0;
constexpr double kAnswerPerRecordNs = 10'000.0;
/// Restoring weights and state copies at 1 GB/s at least.
constexpr double kResetNsPerByte = 1.0;

/// Share of the gaps between records in which losing the processor may fall: it makes one long gap,
/// not many, as work between the steps does.
constexpr std::size_t kGapsPerInterruption = 100;

double Milliseconds(double nanoseconds) { return nanoseconds * 1e-6; }

Failure Wrong(const std::string& message) {
  return MakeFailure(FailureKind::kWrongResult, message);
}

/// Order of the records among themselves and within the bracket.
std::optional<Failure> CheckOrder(const Ran& ran) {
  const auto& records = ran.records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].begin_ns >= records[i].end_ns) {
      return Wrong(fmt::format("record {} ends at or before its begin ({} ns to {} ns)", i,
                               records[i].begin_ns, records[i].end_ns));
    }
    if (i > 0 && records[i].begin_ns < records[i - 1].end_ns) {
      return Wrong(fmt::format(
          "record {} begins {:.3f} ms before record {} ends: more time is claimed than has passed",
          i, Milliseconds(static_cast<double>(records[i - 1].end_ns - records[i].begin_ns)),
          i - 1));
    }
  }
  if (records.front().begin_ns < ran.request_ns - kBracketSlackNs) {
    return Wrong(fmt::format(
        "the first step begins {:.3f} ms before it was asked for; times must be CLOCK_MONOTONIC",
        Milliseconds(static_cast<double>(ran.request_ns - records.front().begin_ns))));
  }
  if (records.back().end_ns > ran.reply_ns + kBracketSlackNs) {
    return Wrong(fmt::format(
        "the last step ends {:.3f} ms after its answer came; times must be CLOCK_MONOTONIC",
        Milliseconds(static_cast<double>(records.back().end_ns - ran.reply_ns))));
  }
  return std::nullopt;
}

/// Nanoseconds in the longest gaps, one in a hundred, as far as other processes' work explains
/// them.
double Interrupted(const Ran& ran) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < ran.records.size(); ++i) {
    gaps.push_back(static_cast<double>(ran.records[i].begin_ns - ran.records[i - 1].end_ns));
  }
  const std::size_t longest = std::min(gaps.size(), 1 + ran.records.size() / kGapsPerInterruption);
  const auto end = gaps.begin() + static_cast<std::ptrdiff_t>(longest);
  std::partial_sort(gaps.begin(), end, gaps.end(), std::greater<>());
  return std::min(std::accumulate(gaps.begin(), end, 0.0), 1e9 * ran.kept_waiting_seconds);
}

}  // namespace

std::optional<Failure> CheckTimes(const Ran& ran, std::uint64_t reset_bytes) {
  if (ran.records.empty()) return Wrong("no steps were timed");
  if (auto failure = CheckOrder(ran)) return failure;
  double accounted = 0.0;
  for (const auto& record : ran.records) {
    accounted += static_cast<double>(record.end_ns - record.begin_ns);
  }
  const auto count = static_cast<double>(ran.records.size());
  const auto inside = static_cast<double>(ran.records.back().end_ns - ran.records.front().begin_ns);
  if (accounted <
      kAccountedShare * (inside - Interrupted(ran)) - kInsideSlackNs - kPerRecordNs * count) {
    return Wrong(fmt::format(
        "unaccounted time: the steps add up to {:.3f} ms of the {:.3f} ms from the first begin to "
        "the last end (at least 95 % is needed); work is done between the steps",
        Milliseconds(accounted), Milliseconds(inside)));
  }
  const auto whole = static_cast<double>(ran.reply_ns - ran.request_ns);
  // A reset by several threads waits for the slowest at every barrier: where another process holds
  // one of two cores, eight small tensors take up to 90 ms instead of 0.1 ms.
  const double slack = kAroundSlackNs + kAnswerPerRecordNs * count +
                       kResetNsPerByte * static_cast<double>(reset_bytes) +
                       1e9 * ran.kept_waiting_seconds;
  if (accounted < kAccountedShare * whole - slack) {
    const auto before = static_cast<double>(ran.records.front().begin_ns - ran.request_ns);
    const auto after = static_cast<double>(ran.reply_ns - ran.records.back().end_ns);
    return Wrong(fmt::format(
        "unaccounted time: the steps add up to {:.3f} ms of the {:.3f} ms from request to answer "
        "(at least 95 % is needed); {:.3f} ms passed before the first step, {:.3f} ms after the "
        "last, where work may have been waited for outside the clock",
        Milliseconds(accounted), Milliseconds(whole), Milliseconds(before), Milliseconds(after)));
  }
  return std::nullopt;
}

}  // namespace dlbench::worker
