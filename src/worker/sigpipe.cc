#include "worker/sigpipe.h"

#include <ctime>

namespace dlbench::worker {
namespace {

bool SigpipePending() {
  sigset_t pending{};
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGPIPE) == 1;
}

sigset_t OnlySigpipe() {
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

SigpipeBlock::SigpipeBlock() {
  const sigset_t set = OnlySigpipe();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  pending_before_ = SigpipePending();
}

SigpipeBlock::~SigpipeBlock() {
  if (!pending_before_ && SigpipePending()) {
    const sigset_t set = OnlySigpipe();
    const timespec at_once{};
    ::sigtimedwait(&set, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace dlbench::worker
