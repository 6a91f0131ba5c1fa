#pragma once

#include <filesystem>

#include "core/file.h"
#include "core/result.h"

namespace dlbench::store {

/// The right to write in a results folder, held by at most one process; given back at destruction
/// and by the operating system when the process dies, however it dies.
class WriterLock {
 public:
  /// Locks `folder`/results.lock. kIo where another process holds it (the message names it) or
  /// where the file cannot be written.
  static Result<WriterLock> Take(const std::filesystem::path& folder);

 private:
  explicit WriterLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace dlbench::store
