#pragma once

#include <csignal>

namespace dlbench::worker {

/// While it lives, a write of this thread into a pipe that nobody reads returns EPIPE instead of
/// ending the program, whatever the program does with SIGPIPE elsewhere.
class SigpipeBlock {
 public:
  SigpipeBlock();
  ~SigpipeBlock();
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t before_{};
  bool pending_before_ = false;
};

}  // namespace dlbench::worker
