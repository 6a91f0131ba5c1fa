#include "cli/interrupt.h"

namespace dlbench::cli {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t interrupted = 0;

void OnSignal(int signal_number) {
  if (interrupted != 0) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
  interrupted = 1;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: waits must end.
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

const volatile std::sig_atomic_t* InterruptGuard::flag() const { return &interrupted; }

}  // namespace dlbench::cli
