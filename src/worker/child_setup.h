#pragma once

#include <sys/types.h>

#include <array>

namespace dlbench::worker {

/// What the child was doing when it failed before it became the adapter.
enum class ChildStep : int { kFolder, kDescriptors, kStart };

/// Sent from the child to its parent through a pipe.
struct ChildFault {
  ChildStep step = ChildStep::kStart;
  int error = 0;  ///< errno.
};

/// All that the child needs, laid out before the fork: between fork and exec only system calls are
/// allowed (no memory allocation: another thread may hold the allocator's lock).
struct ChildSetup {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;
  pid_t parent = 0;
  int join_group_fd = -1;    ///< -1 for none.
  std::array<int, 6> fds{};  ///< Become descriptors 0 to 4; the last, 5, reports faults.
};

/// Turns the forked child into the program. Never returns.
[[noreturn]] void RunChild(const ChildSetup& setup);

}  // namespace dlbench::worker
