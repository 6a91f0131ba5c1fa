#include "worker/log_capture.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dlbench::worker {
namespace {

/// What a tail may need of the first part.
constexpr std::size_t kTailBytes = 16384;

std::string_view LastBytes(std::string_view text, std::uint64_t count) {
  return text.substr(text.size() - std::min<std::uint64_t>(count, text.size()));
}

}  // namespace

Result<LogCapture> LogCapture::Open(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) {
    return Error(ErrorCode::kIo, "cannot write '" + path.string() + "': " + std::strerror(errno));
  }
  return LogCapture(std::move(file), path, limit_bytes);
}

LogCapture::LogCapture(UniqueFd file, std::filesystem::path path, std::uint64_t limit_bytes)
    : file_(std::move(file)), path_(std::move(path)), half_(limit_bytes / 2) {}

void LogCapture::WriteOut(std::string_view bytes) {
  while (!bytes.empty() && file_.valid()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    // A full disk costs the log, not the measurement: the tail in memory stays.
    if (written < 0) return file_.Reset();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void LogCapture::Append(std::string_view bytes) {
  total_ += bytes.size();
  const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(half_ - first_, bytes.size()));
  if (room > 0) {
    const std::string_view head = bytes.substr(0, room);
    WriteOut(head);
    first_ += room;
    first_tail_.append(LastBytes(head, kTailBytes));
    first_tail_ = std::string(LastBytes(first_tail_, kTailBytes));
    bytes.remove_prefix(room);
  }
  if (bytes.empty()) return;
  if (last_.size() + bytes.size() > 2 * half_) {
    bytes = LastBytes(bytes, half_);
    const auto keep = static_cast<std::size_t>(half_) - bytes.size();
    last_.erase(0, last_.size() - std::min<std::size_t>(keep, last_.size()));
  }
  last_.append(bytes);
}

void LogCapture::Close() {
  if (!file_.valid()) return;
  const std::string_view last = LastBytes(last_, half_);
  const std::uint64_t missing = total_ - first_ - last.size();
  if (missing > 0) {
    WriteOut("\n[dlbench left out " + std::to_string(missing) + " bytes here]\n");
  }
  WriteOut(last);
  file_.Reset();
}

std::string LogCapture::Tail(std::size_t lines, std::size_t bytes) const {
  std::string text(LastBytes(last_, half_));
  if (total_ == first_ + text.size()) text.insert(0, first_tail_);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t start = text.size() - std::min(bytes, text.size());
  std::size_t line = text.size();
  for (std::size_t i = 0; i < lines && line != std::string::npos && line > 0; ++i) {
    line = text.rfind('\n', line - 1);
  }
  if (line != std::string::npos && line > 0) start = std::max(start, line + 1);
  return text.substr(std::min(start, text.size()));
}

}  // namespace dlbench::worker
