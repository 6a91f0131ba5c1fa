#include "worker/child_setup.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace dlbench::worker {
namespace {

/// Like the shell's status for a command that cannot be run; nobody reads it.
constexpr int kCannotStart = 127;

[[noreturn]] void Fail(int fault_fd, ChildStep step) {
  const ChildFault fault{step, errno};
  if (::write(fault_fd, &fault, sizeof fault) < 0) {
    ::_exit(kCannotStart);
  }
  ::_exit(kCannotStart);
}

/// Handlers of ours are reset by exec, but ignored and blocked signals would be inherited.
void ResetSignals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void CloseFrom(unsigned int first) {
  if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
  // Kernels before 5.9. 65536 is above the descriptors that anything of ours opens.
  for (int fd = static_cast<int>(first); fd < 65536; ++fd) ::close(fd);
}

/// Moves the descriptors to 0..5 without overwriting one that is still to be moved.
bool PlaceDescriptors(std::array<int, 6>& fds) {
  constexpr int kOutOfTheWay = 64;
  for (int& fd : fds) {
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, kOutOfTheWay);
    if (fd < 0) return false;
  }
  for (int target = 0; target < static_cast<int>(fds.size()); ++target) {
    if (::dup2(fds[static_cast<std::size_t>(target)], target) < 0) return false;
  }
  return true;
}

}  // namespace

void RunChild(const ChildSetup& setup) {
  constexpr int kFaultFd = 5;
  std::array<int, 6> fds = setup.fds;
  ::setsid();
  ResetSignals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != setup.parent) ::_exit(kCannotStart);  // Ours has died already.
  if (setup.join_group_fd >= 0 && ::write(setup.join_group_fd, "0", 1) != 1) {
    Fail(fds.back(), ChildStep::kDescriptors);
  }
  if (::chdir(setup.folder) != 0) Fail(fds.back(), ChildStep::kFolder);
  if (!PlaceDescriptors(fds)) Fail(setup.fds.back(), ChildStep::kDescriptors);
  ::fcntl(kFaultFd, F_SETFD, FD_CLOEXEC);
  CloseFrom(kFaultFd + 1);
  ::execve(setup.program, setup.argv, setup.environment);
  Fail(kFaultFd, ChildStep::kStart);
}

}  // namespace dlbench::worker
