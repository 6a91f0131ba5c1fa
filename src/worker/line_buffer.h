#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dlbench::worker {

/// Collects bytes as they come and cuts them into lines, holding at most `limit` bytes.
class LineBuffer {
 public:
  explicit LineBuffer(std::uint64_t limit) : limit_(limit) {}

  /// Adds bytes. What goes beyond the limit of an unfinished line is dropped and makes too_long().
  void Append(std::string_view bytes);
  /// The next whole line without its line end, if there is one.
  std::optional<std::string> TakeLine();
  /// Whether a line has exceeded the limit; the buffer is of no further use then.
  bool too_long() const { return too_long_; }
  /// Bytes held that belong to no whole line taken yet.
  std::size_t pending() const { return bytes_.size(); }
  /// The bytes held.
  std::string_view bytes() const { return bytes_; }

 private:
  std::uint64_t limit_;
  std::string bytes_;
  std::size_t searched_ = 0;  // No line end before this offset.
  bool too_long_ = false;
};

}  // namespace dlbench::worker
