#include "worker/line_buffer.h"

namespace dlbench::worker {

void LineBuffer::Append(std::string_view bytes) {
  if (too_long_) return;
  bytes_.append(bytes);
  const std::size_t end = bytes_.find('\n', searched_);
  const std::size_t line = end == std::string::npos ? bytes_.size() : end;
  if (line > limit_) {
    too_long_ = true;
    bytes_.resize(static_cast<std::size_t>(limit_));
    return;
  }
  searched_ = line;
}

std::optional<std::string> LineBuffer::TakeLine() {
  if (too_long_) return std::nullopt;
  const std::size_t end = bytes_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = bytes_.size();
    return std::nullopt;
  }
  std::string line = bytes_.substr(0, end);
  bytes_.erase(0, end + 1);
  searched_ = 0;
  const std::size_t next = bytes_.find('\n');
  too_long_ = (next == std::string::npos ? bytes_.size() : next) > limit_;
  return line;
}

}  // namespace dlbench::worker
