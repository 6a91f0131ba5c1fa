#pragma once

#include <csignal>

namespace dlbench::cli {

/// While it lives, SIGINT and SIGTERM set a flag instead of ending the program, so that the launch
/// in flight is ended and what is stored stays whole; a second signal ends the program at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Non-zero once a signal has come. Valid for the whole program.
  const volatile std::sig_atomic_t* flag() const;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace dlbench::cli
