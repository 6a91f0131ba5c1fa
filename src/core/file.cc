#include "core/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace dlbench {
namespace {

Error SystemError(const std::filesystem::path& path, const char* action) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Error(
      code, std::string("cannot ") + action + " '" + path.string() + "': " + std::strerror(errno));
}

Status WriteAll(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return SystemError(path, "write");
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::filesystem::path XdgHome(const char* variable, const char* fallback) {
  const char* value = std::getenv(variable);
  if (value != nullptr && value[0] == '/') return std::filesystem::path(value) / "dlbench";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr ? home : "/") / fallback / "dlbench";
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = other.Release();
  }
  return *this;
}

void UniqueFd::Reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError(path, "open");
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return SystemError(path, "examine");
  if (!S_ISREG(info.st_mode)) {
    return Error(ErrorCode::kInput, "'" + path.string() + "' is not a regular file");
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return SystemError(path, "map");
  return MappedFile(static_cast<const std::byte*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Result<std::string> ReadFile(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError(path, "open");
  std::string content;
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0) {
      if (errno == EINTR) continue;
      return SystemError(path, "read");
    }
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > limit_bytes) {
      return Error(ErrorCode::kInput, "'" + path.string() + "' is larger than " +
                                          std::to_string(limit_bytes) + " bytes");
    }
  }
}

Result<bool> SameBytes(const std::filesystem::path& a, const std::filesystem::path& b) {
  DLBENCH_ASSIGN_OR_RETURN(const MappedFile first, MappedFile::Open(a));
  DLBENCH_ASSIGN_OR_RETURN(const MappedFile second, MappedFile::Open(b));
  return first.size() == second.size() &&
         (first.size() == 0 || std::memcmp(first.data(), second.data(), first.size()) == 0);
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content) {
  std::string temporary = path.string() + ".tmp-XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return SystemError(path, "write");
  Status status = WriteAll(fd.get(), content, path);
  if (status.ok() && ::fchmod(fd.get(), 0644) != 0) status = SystemError(path, "set the mode of");
  if (status.ok() && ::fsync(fd.get()) != 0) status = SystemError(path, "write");
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError(path, "write");
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

Result<std::filesystem::path> PathInside(const std::filesystem::path& root,
                                         std::string_view relative) {
  const std::filesystem::path path(relative);
  bool leaves =
      relative.empty() || path.is_absolute() || relative.find('\0') != std::string_view::npos;
  for (const auto& part : path) leaves = leaves || part == "..";
  if (leaves) {
    return Error(ErrorCode::kInput, "the path '" + std::string(relative) +
                                        "' must be relative and stay inside its folder");
  }
  // A link on the way may still lead out of the folder.
  std::error_code ignored;
  const auto resolved = std::filesystem::weakly_canonical(root / path, ignored);
  const auto base = std::filesystem::weakly_canonical(root, ignored);
  const auto step = resolved.lexically_relative(base);
  if (step.empty() || *step.begin() == "..") {
    return Error(ErrorCode::kInput,
                 "the path '" + std::string(relative) + "' leads out of its folder through a link");
  }
  return root / path;
}

std::filesystem::path DataHome() { return XdgHome("XDG_DATA_HOME", ".local/share"); }
std::filesystem::path CacheHome() { return XdgHome("XDG_CACHE_HOME", ".cache"); }

}  // namespace dlbench
