#include "store/writer_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/text.h"

namespace dlbench::store {
namespace {

/// The process that wrote its number into the lock file, in words.
std::string Holder(int fd) {
  char text[32] = {};
  const ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  const auto pid =
      ParseInt(Trim(std::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0)));
  return pid ? "process " + std::to_string(*pid) : "another process";
}

}  // namespace

Result<WriterLock> WriterLock::Take(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "results.lock";
  // Closed on exec: a worker that outlives us must not keep the lock.
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) {
    return Error(ErrorCode::kIo, "cannot write results in '" + folder.string() + "': " +
                                     std::strerror(errno) + "; choose another folder with --out");
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return Error(ErrorCode::kIo, "cannot lock '" + file.string() + "': " + std::strerror(errno));
    }
    return Error(ErrorCode::kIo, "the results in '" + folder.string() + "' are locked by " +
                                     Holder(fd.get()) +
                                     ", which is writing there: wait for its end or choose another "
                                     "folder with --out");
  }
  // The number only serves the message above: a full disk must not forbid what follows.
  const std::string pid = std::to_string(::getpid()) + "\n";
  const bool written =
      ::ftruncate(fd.get(), 0) == 0 && ::pwrite(fd.get(), pid.data(), pid.size(), 0) > 0;
  static_cast<void>(written);
  return WriterLock(std::move(fd));
}

}  // namespace dlbench::store
