#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/file.h"
#include "core/result.h"

namespace dlbench::worker {

/// Keeps the first and the last part of what a process prints and counts the rest. The first half
/// goes to the file as it comes; the last half is held in memory until Close writes it after a mark
/// that says how many bytes are missing. Holds at most `limit_bytes` whatever is printed.
class LogCapture {
 public:
  /// Creates or truncates `path`.
  static Result<LogCapture> Open(const std::filesystem::path& path, std::uint64_t limit_bytes);
  LogCapture(LogCapture&&) = default;
  LogCapture& operator=(LogCapture&&) = delete;
  ~LogCapture() { Close(); }

  /// Takes printed bytes.
  void Append(std::string_view bytes);
  /// Writes the last part and the mark; later bytes are only counted.
  void Close();
  /// Bytes printed in all, kept or not.
  std::uint64_t total_bytes() const { return total_; }
  /// The last `lines` lines, at most `bytes` bytes of them, as printed (not yet printable).
  std::string Tail(std::size_t lines, std::size_t bytes) const;
  /// The file written.
  const std::filesystem::path& path() const { return path_; }

 private:
  LogCapture(UniqueFd file, std::filesystem::path path, std::uint64_t limit_bytes);
  void WriteOut(std::string_view bytes);

  UniqueFd file_;
  std::filesystem::path path_;
  std::uint64_t half_;       // Kept of each end.
  std::uint64_t total_ = 0;  // Printed.
  std::uint64_t first_ = 0;  // Of these, already in the file.
  std::string last_;         // Newest bytes; cut down to half_ when it reaches twice that.
  std::string first_tail_;   // End of the first part, for Tail before the second part begins.
};

}  // namespace dlbench::worker
