#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace dlbench {

/// Owns a file descriptor and closes it. Move-only; -1 means none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  /// Closes what is held, if anything.
  void Reset();
  /// Gives the descriptor to the caller.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// A read-only view of a whole file in memory. Move-only; unmapped at destruction.
class MappedFile {
 public:
  /// Maps `path`; errors name the path and the system's reason.
  static Result<MappedFile> Open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The file's bytes, at most `limit_bytes` (an error beyond: nothing of ours is that large).
Result<std::string> ReadFile(const std::filesystem::path& path,
                             std::uint64_t limit_bytes = 64ULL << 20);
/// Whether two files hold the same bytes.
Result<bool> SameBytes(const std::filesystem::path& a, const std::filesystem::path& b);
/// Writes a temporary file beside `path`, syncs and renames it, so that `path` is never
/// half-written.
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content);
/// `root / relative`, refused (kInput) if `relative` is absolute or leaves `root`.
Result<std::filesystem::path> PathInside(const std::filesystem::path& root,
                                         std::string_view relative);
/// The user's data folder for dlbench: XDG_DATA_HOME/dlbench or ~/.local/share/dlbench.
std::filesystem::path DataHome();
/// The user's cache folder for dlbench: XDG_CACHE_HOME/dlbench or ~/.cache/dlbench.
std::filesystem::path CacheHome();

}  // namespace dlbench
