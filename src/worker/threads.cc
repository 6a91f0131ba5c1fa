#include <fmt/format.h>

#include <string>

#include "core/text.h"
#include "worker/failure.h"
#include "worker/worker.h"

namespace dlbench::worker {
namespace {

/// Decision 18: more processor time than this share of the threads asked for is too much.
constexpr double kMostShare = 1.1;
/// Threads that still spin while we look, and the looking itself: matters for short runs only.
constexpr double kSlackSeconds = 0.05;

double WallSeconds(const Ran& ran) {
  return static_cast<double>(ran.reply_ns - ran.request_ns) * 1e-9;
}

}  // namespace

double ThreadsUsed(const Ran& ran) {
  const double wall = WallSeconds(ran);
  return wall > 0.0 ? ran.cpu_seconds / wall : 0.0;
}

std::optional<Failure> CheckThreads(const Ran& ran, int threads_asked) {
  const double allowed = kMostShare * threads_asked * WallSeconds(ran) + kSlackSeconds;
  if (ran.cpu_seconds <= allowed) return std::nullopt;
  std::string names = "no single thread was seen busy: they had ended, or were many and short";
  if (!ran.busy_thread_names.empty()) {
    names = fmt::format("{} busy: {}", ran.busy_threads, Join(ran.busy_thread_names, ", "));
  }
  return MakeFailure(
      FailureKind::kWrongThreads,
      fmt::format(
          "{:.2f} threads' worth of processor time was used, {} {} asked for ({}); find the "
          "thread pool that ignores the setting",
          ThreadsUsed(ran), threads_asked, threads_asked == 1 ? "thread was" : "threads were",
          names));
}

}  // namespace dlbench::worker
