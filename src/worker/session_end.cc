// How a ProcessSession ends, and what is said about it.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "core/text.h"
#include "worker/failure.h"
#include "worker/process_session.h"

namespace dlbench::worker {
namespace {

using std::chrono::milliseconds;

/// A well-behaved adapter that reads end of file while it waits for a request is gone by then.
constexpr milliseconds kEndOfFileGrace{200};
/// After SIGKILL a process may still be busy in the kernel, freeing much memory for example.
constexpr milliseconds kKillLimit{10'000};
/// From here on a kill is put down to our memory limit although no look has seen it exceeded:
/// memory may grow much between two looks.
constexpr double kNearLimit = 0.9;

constexpr std::size_t kTailLines = 20;
constexpr std::size_t kTailBytes = 4096;

double Mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

}  // namespace

bool ProcessSession::MemoryIsFine(const std::vector<ProcessInfo>& members) {
  const std::uint64_t limit = parts_.spec.limits.memory_bytes;
  const GroupMemory memory = ReadGroupMemory(members, limit > 0 ? limit : UINT64_MAX);
  peak_bytes_ = std::max({peak_bytes_, memory.resident_bytes, memory.peak_bytes});
  // Where the kernel enforces the limit, it also decides.
  return limit == 0 || parts_.group || peak_bytes_ <= limit;
}

Failure ProcessSession::OverMemory() const {
  return MakeFailure(
      FailureKind::kOutOfMemory,
      fmt::format("memory limit exceeded: {:.0f} MiB in use, {:.0f} MiB allowed; the adapter was "
                  "ended",
                  Mebibytes(peak_bytes_), Mebibytes(parts_.spec.limits.memory_bytes)));
}

std::string ProcessSession::MemoryEvidence() const {
  if (parts_.group && parts_.group->OomKills() > 0) {
    return fmt::format("the kernel killed it at the memory limit of {:.0f} MiB",
                       Mebibytes(parts_.spec.limits.memory_bytes));
  }
  const std::uint64_t limit = parts_.spec.limits.memory_bytes;
  if (limit > 0 && static_cast<double>(peak_bytes_) >= kNearLimit * static_cast<double>(limit)) {
    return fmt::format("it was using {:.0f} of {:.0f} MiB allowed", Mebibytes(peak_bytes_),
                       Mebibytes(limit));
  }
  if (parts_.system.oom_kills() > oom_kills_before_) {
    return "the kernel has killed for lack of memory since this launch began";
  }
  return "";
}

Failure ProcessSession::ExplainEnd(const Exchange& exchange) {
  exit_status_ = process_.WaitFor(kKillLimit);
  const ExitStatus status = exit_status_.value_or(ExitStatus{});
  if (status.signal == SIGKILL) {
    if (const std::string evidence = MemoryEvidence(); !evidence.empty()) {
      return MakeFailure(FailureKind::kOutOfMemory,
                         "the adapter " + ToString(status) + ": " + evidence);
    }
  }
  std::string when = "before it had answered";
  if (!exchange.partial.empty()) {
    when = fmt::format("in the middle of its answer, after {} bytes: {}", exchange.partial.size(),
                       Quoted(exchange.partial));
  }
  const std::string message = "the adapter " + ToString(status) + " " + when;
  if (status.signal) return MakeFailure(FailureKind::kCrashed, message);
  if (!exchange.partial.empty()) return MakeFailure(FailureKind::kProtocolError, message);
  return MakeFailure(FailureKind::kExited, message + ": no result");
}

Failure ProcessSession::Explain(const Exchange& exchange, milliseconds limit) {
  const std::string begins = Quoted(exchange.partial);
  switch (exchange.end) {
    case WaitEnd::kProcessEnded:
      return ExplainEnd(exchange);
    case WaitEnd::kTimeout:
      return MakeFailure(
          FailureKind::kTimeout,
          fmt::format("no answer within {:g} s{}", static_cast<double>(limit.count()) / 1000.0,
                      begins.empty() ? "" : "; an unfinished line had come: " + begins));
    case WaitEnd::kInterrupted:
      return MakeFailure(FailureKind::kInterrupted, "stopped by the user");
    case WaitEnd::kStopped:
      return OverMemory();
    case WaitEnd::kTooLong:
      return MakeFailure(FailureKind::kProtocolError,
                         fmt::format("the reply's line is longer than {} bytes; it begins: {}",
                                     parts_.spec.limits.line_bytes, begins));
    case WaitEnd::kReplyClosed:
      return MakeFailure(FailureKind::kProtocolError,
                         "the adapter closed its reply descriptor without an answer" +
                             (begins.empty() ? "" : "; an unfinished line had come: " + begins));
    case WaitEnd::kSecondLine:
    case WaitEnd::kLine:
      break;
  }
  return MakeFailure(FailureKind::kProtocolError,
                     "the adapter wrote a line that no request had asked for: " + begins);
}

std::string ProcessSession::LogTail() const {
  std::string tail;
  const auto add = [&](const char* name, const LogCapture& log) {
    const std::string text = Printable(log.Tail(kTailLines, kTailBytes));
    if (!text.empty()) tail += fmt::format("{} (last lines):\n{}\n", name, text);
  };
  add("stderr", channel_.err_log());
  add("stdout", channel_.out_log());
  return tail;
}

Failure ProcessSession::Settle(Failure failure, const std::string& type) {
  if (failure_) return *failure_;
  const bool lives_on = failure.kind == FailureKind::kUnsupported;
  if (!lives_on) {
    channel_.DrainOutput();
    if (!exit_status_) exit_status_ = process_.Ended();
    // An end that is our own doing says nothing about the adapter.
    const auto status = exit_status_;
    End();
    if (status) {
      failure.signal = status->signal;
      failure.exit_status = status->code;
    }
  }
  failure.message = type + ": " + failure.message;
  failure.log_tail = LogTail();
  if (!lives_on) failure_ = failure;
  return failure;
}

std::optional<std::string> ProcessSession::WaitForOrderlyEnd() {
  channel_.CloseRequest();
  const auto ended = [this] { return process_.Ended().has_value(); };
  const bool in_time = channel_.DrainUntil(ended, parts_.spec.limits.end);
  exit_status_ = process_.Ended();
  std::optional<std::string> problem;
  if (!in_time) {
    problem = fmt::format("it had not ended {} ms after its last answer and was ended",
                          parts_.spec.limits.end.count());
  } else if (exit_status_ && exit_status_->code != 0) {
    problem = "after its last answer it " + ToString(*exit_status_);
  }
  // Helpers that end when their parent does need a moment.
  channel_.DrainUntil([this] { return LiveDescendants().empty(); }, kEndOfFileGrace);
  const std::vector<std::string> left_behind = LiveDescendants();
  End();
  if (!left_behind.empty() && !problem) {
    problem = "it left processes behind, which were ended: " + Join(left_behind, ", ");
  }
  return problem;
}

std::vector<std::string> ProcessSession::LiveDescendants() {
  std::vector<std::string> names;
  for (const ProcessInfo& info : members_.Find()) {
    if (info.pid != process_.pid() && info.state != 'Z') names.push_back(Printable(info.name));
  }
  return names;
}

void ProcessSession::AskToEnd() {
  const auto ended = [this] { return process_.Ended().has_value(); };
  channel_.CloseRequest();
  if (ended()) return;
  const milliseconds grace = parts_.spec.limits.terminate_grace;
  if (idle_ && channel_.DrainUntil(ended, std::min(kEndOfFileGrace, grace))) return;
  for (const ProcessInfo& info : members_.Find()) ::kill(info.pid, SIGTERM);
  process_.SignalGroup(SIGTERM);
  process_.SignalGroup(SIGCONT);  // A stopped process cannot end itself.
  channel_.DrainUntil(ended, grace);
}

void ProcessSession::EndMembers() {
  const auto gone = [this] {
    bool none = true;
    for (const ProcessInfo& info : members_.Find()) {
      if (info.pid == process_.pid()) continue;
      if (info.state == 'Z') {
        // Orphans are our children (AdoptOrphans); those of a living parent are not, and stay.
        ::waitpid(info.pid, nullptr, WNOHANG);
        continue;
      }
      ::kill(info.pid, SIGKILL);
      none = false;
    }
    return none;
  };
  channel_.DrainUntil(gone, kKillLimit);
}

void ProcessSession::End() {
  if (ended_) return;
  ended_ = true;
  AskToEnd();
  // Known by parentage only as long as the parents live: look before they are killed.
  members_.Find();
  process_.SignalGroup(SIGKILL);
  if (parts_.group) parts_.group->Kill();
  channel_.DrainUntil([this] { return process_.Ended().has_value(); }, kKillLimit);
  EndMembers();
  if (!exit_status_) exit_status_ = process_.Ended();
  process_.Reap();
  channel_.CloseLogs();
}

}  // namespace dlbench::worker
