#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/clock.h"
#include "core/file.h"
#include "worker/line_buffer.h"
#include "worker/log_capture.h"

namespace dlbench::worker {

/// What ended the wait for a reply.
enum class WaitEnd {
  kLine,          ///< A whole line came.
  kSecondLine,    ///< More came than one line, or a line that no request had asked for.
  kTooLong,       ///< The line exceeds the limit.
  kProcessEnded,  ///< The process ended before a whole line had come.
  kReplyClosed,   ///< The process closed its reply descriptor and lives on.
  kTimeout,       ///< The limit passed.
  kInterrupted,   ///< The user asked to stop.
  kStopped,       ///< The caller's tick asked for it (memory limit).
};

/// One request and what came back.
struct Exchange {
  WaitEnd end = WaitEnd::kTimeout;
  std::string line;           ///< The reply, for kLine.
  std::string partial;        ///< What had come of an unfinished line; may be cut for kTooLong.
  std::int64_t begin_ns = 0;  ///< Clock before the request was written.
  std::int64_t end_ns = 0;    ///< Clock when the last byte of the line had been read.
};

/// The talk with one process: writes requests, reads replies, and all the while takes what the
/// process prints. Sleeps in poll until something happens; never blocks on a descriptor.
class Channel {
 public:
  /// Our ends of the process's pipes, all non-blocking. `pidfd` becomes readable when the process
  /// ends and is not owned; -1 where the system has none (then the ticks look, see SetAlive).
  struct Ends {
    UniqueFd request, reply, out, err;
    int pidfd = -1;
  };

  /// `clock` and `interrupted` (may be null) must outlive it.
  Channel(Ends ends, LogCapture out_log, LogCapture err_log, std::uint64_t line_bytes, Clock& clock,
          const volatile std::sig_atomic_t* interrupted);

  /// How to wait.
  struct Waiting {
    std::chrono::milliseconds limit{0};
    std::chrono::milliseconds tick{250};  ///< Real time between calls of on_tick.
    std::function<bool()> on_tick;        ///< False ends the wait with kStopped. May be empty.
  };
  /// Writes `request` (with its line end) and waits for one line.
  Exchange Ask(std::string_view request, const Waiting& waiting);

  /// How to see at a tick whether the process lives. May be left unset.
  void SetAlive(std::function<bool()> alive) { alive_ = std::move(alive); }

  /// Closes the request descriptor: the process reads end of file.
  void CloseRequest() { ends_.request.Reset(); }
  /// Takes what lies in the output pipes, without waiting.
  void DrainOutput();
  /// Waits at most `limit` of real time for `done`, taking output meanwhile.
  bool DrainUntil(const std::function<bool()>& done, std::chrono::milliseconds limit);
  /// Finishes the log files.
  void CloseLogs();

  const LogCapture& out_log() const { return out_log_; }
  const LogCapture& err_log() const { return err_log_; }

 private:
  enum class ReadEnd { kMore, kNothing, kClosed };

  bool Interrupted() const { return interrupted_ != nullptr && *interrupted_ != 0; }
  /// Checks that nothing has come unasked, before a request.
  bool ReplyIsQuiet();
  /// Writes what the pipe takes of `request`; true when the process reads no longer.
  bool WriteSome(std::string_view& request);
  /// Waits for something to happen and takes it; true if the process has ended.
  bool PollOnce(bool writing, std::chrono::milliseconds limit);
  /// Looks at what has come; true if that ends the exchange.
  bool Decide(Exchange& exchange);
  void Abandon(Exchange& exchange, WaitEnd end) const;
  ReadEnd ReadReply();
  static ReadEnd Pump(UniqueFd& fd, LogCapture& log);

  Ends ends_;
  std::function<bool()> alive_;
  LogCapture out_log_;
  LogCapture err_log_;
  LineBuffer reply_;
  Clock& clock_;
  const volatile std::sig_atomic_t* interrupted_;
  std::int64_t read_ns_ = 0;  // Clock after the latest read of reply bytes.
};

}  // namespace dlbench::worker
