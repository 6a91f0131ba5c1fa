#include "worker/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "worker/sigpipe.h"

namespace dlbench::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// One read. A flood of output may not starve the replies, so every stream gets one read a turn.
constexpr std::size_t kReadBytes = 1 << 18;
/// At the end a pipe holds at most its size (1 MiB); a descendant that goes on printing is not
/// followed for ever.
constexpr int kLastReads = 16;
/// A process that ends closes its descriptors a moment before the system says that it has ended.
constexpr milliseconds kEndAfterClose{1'000};

/// Shared by all streams of a thread: it holds nothing between two reads.
std::array<char, kReadBytes>& ReadBuffer() {
  thread_local std::array<char, kReadBytes> buffer;
  return buffer;
}

}  // namespace

Channel::Channel(Ends ends, LogCapture out_log, LogCapture err_log, std::uint64_t line_bytes,
                 Clock& clock, const volatile std::sig_atomic_t* interrupted)
    : ends_(std::move(ends)),
      out_log_(std::move(out_log)),
      err_log_(std::move(err_log)),
      reply_(line_bytes),
      clock_(clock),
      interrupted_(interrupted) {}

Channel::ReadEnd Channel::Pump(UniqueFd& fd, LogCapture& log) {
  if (!fd.valid()) return ReadEnd::kClosed;
  auto& buffer = ReadBuffer();
  const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got > 0) {
    log.Append({buffer.data(), static_cast<std::size_t>(got)});
    return ReadEnd::kMore;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return ReadEnd::kNothing;
  fd.Reset();
  return ReadEnd::kClosed;
}

Channel::ReadEnd Channel::ReadReply() {
  if (!ends_.reply.valid()) return ReadEnd::kClosed;
  auto& buffer = ReadBuffer();
  const ssize_t got = ::read(ends_.reply.get(), buffer.data(), buffer.size());
  if (got > 0) {
    read_ns_ = clock_.MonotonicNs();
    reply_.Append({buffer.data(), static_cast<std::size_t>(got)});
    return ReadEnd::kMore;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return ReadEnd::kNothing;
  ends_.reply.Reset();
  return ReadEnd::kClosed;
}

bool Channel::ReplyIsQuiet() {
  ReadReply();
  return reply_.pending() == 0;
}

bool Channel::WriteSome(std::string_view& request) {
  const SigpipeBlock block;
  while (!request.empty()) {
    const ssize_t written = ::write(ends_.request.get(), request.data(), request.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno != EAGAIN;
    request.remove_prefix(static_cast<std::size_t>(written));
  }
  return false;
}

bool Channel::PollOnce(bool writing, milliseconds limit) {
  std::array<pollfd, 5> entries{};
  // Negative descriptors are skipped by poll.
  entries[0] = {ends_.reply.get(), POLLIN, 0};
  entries[1] = {ends_.out.get(), POLLIN, 0};
  entries[2] = {ends_.err.get(), POLLIN, 0};
  entries[3] = {ends_.pidfd, POLLIN, 0};
  entries[4] = {writing ? ends_.request.get() : -1, POLLOUT, 0};
  const int ready = ::poll(entries.data(), entries.size(), static_cast<int>(limit.count()));
  if (ready <= 0) return false;  // Time is up, or a signal has come: the caller looks at its flag.
  if (entries[0].revents != 0) ReadReply();
  if (entries[1].revents != 0) Pump(ends_.out, out_log_);
  if (entries[2].revents != 0) Pump(ends_.err, err_log_);
  return entries[3].revents != 0;
}

void Channel::Abandon(Exchange& exchange, WaitEnd end) const {
  exchange.end = end;
  exchange.partial = std::string(reply_.bytes());
}

bool Channel::Decide(Exchange& exchange) {
  if (reply_.too_long()) {
    Abandon(exchange, WaitEnd::kTooLong);
    return true;
  }
  auto line = reply_.TakeLine();
  if (!line) return false;
  exchange.end = WaitEnd::kLine;
  exchange.line = std::move(*line);
  exchange.end_ns = read_ns_;
  if (reply_.pending() > 0) Abandon(exchange, WaitEnd::kSecondLine);
  return true;
}

Exchange Channel::Ask(std::string_view request, const Waiting& waiting) {
  Exchange exchange;
  if (!ReplyIsQuiet()) {
    Abandon(exchange, WaitEnd::kSecondLine);
    return exchange;
  }
  exchange.begin_ns = clock_.MonotonicNs();
  const std::int64_t deadline_ns = exchange.begin_ns + nanoseconds(waiting.limit).count();
  auto next_tick = steady_clock::now() + waiting.tick;
  bool deaf = WriteSome(request);
  while (true) {
    if (Decide(exchange)) return exchange;
    if (Interrupted()) {
      Abandon(exchange, WaitEnd::kInterrupted);
      return exchange;
    }
    const std::int64_t left_ns = deadline_ns - clock_.MonotonicNs();
    if (left_ns <= 0) {
      Abandon(exchange, WaitEnd::kTimeout);
      return exchange;
    }
    const auto to_tick = std::chrono::ceil<milliseconds>(next_tick - steady_clock::now());
    const auto to_deadline = std::chrono::ceil<milliseconds>(nanoseconds(left_ns));
    const bool writing = !deaf && !request.empty();
    bool ended = PollOnce(writing, std::clamp(to_tick, milliseconds(0), to_deadline));
    if (writing) deaf = WriteSome(request);
    if (steady_clock::now() >= next_tick) {
      next_tick = steady_clock::now() + waiting.tick;
      ended = ended || (alive_ && !alive_());
      if (waiting.on_tick && !waiting.on_tick() && !ended) {
        Abandon(exchange, WaitEnd::kStopped);
        return exchange;
      }
    }
    if (!ended && ends_.reply.valid()) continue;
    if (!ended && alive_) ended = DrainUntil([this] { return !alive_(); }, kEndAfterClose);
    // The last words may still lie in the pipes.
    while (ReadReply() == ReadEnd::kMore && !reply_.too_long()) {
    }
    if (Decide(exchange)) return exchange;
    Abandon(exchange, ended ? WaitEnd::kProcessEnded : WaitEnd::kReplyClosed);
    return exchange;
  }
}

void Channel::DrainOutput() {
  for (int i = 0; i < kLastReads && Pump(ends_.out, out_log_) == ReadEnd::kMore; ++i) {
  }
  for (int i = 0; i < kLastReads && Pump(ends_.err, err_log_) == ReadEnd::kMore; ++i) {
  }
}

bool Channel::DrainUntil(const std::function<bool()>& done, milliseconds limit) {
  // Where no descriptor tells of what we wait for, look this often.
  constexpr milliseconds kPulse{10};
  const auto deadline = steady_clock::now() + limit;
  int pidfd = ends_.pidfd;
  while (!done()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 3> entries{};
    entries[0] = {ends_.out.get(), POLLIN, 0};
    entries[1] = {ends_.err.get(), POLLIN, 0};
    entries[2] = {pidfd, POLLIN, 0};
    const auto wait = pidfd >= 0 ? left : std::min(left, kPulse);
    ::poll(entries.data(), entries.size(), static_cast<int>(wait.count()));
    if (entries[0].revents != 0) Pump(ends_.out, out_log_);
    if (entries[1].revents != 0) Pump(ends_.err, err_log_);
    if (entries[2].revents != 0) pidfd = -1;  // Stays readable: it has told all it can.
  }
  return true;
}

void Channel::CloseLogs() {
  DrainOutput();
  out_log_.Close();
  err_log_.Close();
}

}  // namespace dlbench::worker
