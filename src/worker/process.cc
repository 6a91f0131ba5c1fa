#include "worker/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/text.h"
#include "worker/child_setup.h"

namespace dlbench::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Room in a pipe, so that a chatty or large answer needs few wake-ups of ours (Linux's limit for
/// users without rights is 1 MiB).
constexpr int kPipeBytes = 1 << 20;

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Error SpawnError(const std::string& what, int error) {
  return Error(ErrorCode::kIo, what + ": " + std::strerror(error));
}

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return SpawnError("cannot make a pipe", errno);
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  ::fcntl(pipe.write_end.get(), F_SETPIPE_SZ, kPipeBytes);  // Smaller works as well.
  return pipe;
}

/// `path` seen from the root, since the child changes its folder; as it is where that fails.
std::string Absolute(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

/// execvp's rule, done here because the child may only make system calls.
std::string FindProgram(const std::string& name, const std::vector<std::string>& environment) {
  if (name.find('/') != std::string::npos) return Absolute(name);
  constexpr std::string_view kPath = "PATH=";
  for (const std::string& entry : environment) {
    if (entry.compare(0, kPath.size(), kPath) != 0) continue;
    for (const std::string& folder : Split(entry.substr(kPath.size()), ':')) {
      const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
      if (::access(candidate.c_str(), X_OK) == 0) return Absolute(candidate);
    }
  }
  return name;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Blocks until the child runs its program (the pipe closes by itself) or says why not.
std::optional<ChildFault> ReadFault(int fd) {
  ChildFault fault;
  ssize_t got = -1;
  do {
    got = ::read(fd, &fault, sizeof fault);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof fault)) return std::nullopt;
  return fault;
}

Error DescribeFault(const ChildFault& fault, const std::string& program,
                    const std::filesystem::path& folder) {
  if (fault.step == ChildStep::kFolder) {
    return SpawnError("cannot enter the launch's folder '" + folder.string() + "'", fault.error);
  }
  if (fault.step == ChildStep::kDescriptors) {
    return SpawnError("cannot set up the descriptors of '" + program + "'", fault.error);
  }
  std::string what = "cannot start '" + Printable(program) + "'";
  if (fault.error == ENOEXEC) what += " (neither a program nor a script with a #! line)";
  return SpawnError(what, fault.error);
}

void SetNonBlocking(const UniqueFd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

ExitStatus FromInfo(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {info.si_status, std::nullopt};
  return {std::nullopt, info.si_status};
}

}  // namespace

std::string ToString(const ExitStatus& status) {
  if (status.signal) {
    const char* name = ::strsignal(*status.signal);
    return "was ended by signal " + std::to_string(*status.signal) + " (" +
           (name != nullptr ? name : "unknown") + ")";
  }
  return "exited with status " + std::to_string(status.code.value_or(0));
}

void AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

Result<Process> Process::Spawn(const ProcessSpec& spec) {
  if (spec.argv.empty()) return Error(ErrorCode::kInternal, "no program named to start");
  DLBENCH_ASSIGN_OR_RETURN(Pipe request, MakePipe());
  DLBENCH_ASSIGN_OR_RETURN(Pipe reply, MakePipe());
  DLBENCH_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  DLBENCH_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  DLBENCH_ASSIGN_OR_RETURN(Pipe fault_pipe, MakePipe());
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.valid()) return SpawnError("cannot open /dev/null", errno);

  std::vector<std::string> argv = spec.argv;
  std::vector<std::string> environment = spec.environment;
  const std::string program = FindProgram(argv[0], environment);
  const std::vector<char*> argv_pointers = Pointers(argv);
  const std::vector<char*> environment_pointers = Pointers(environment);
  ChildSetup setup;
  setup.program = program.c_str();
  setup.argv = argv_pointers.data();
  setup.environment = environment_pointers.data();
  setup.folder = spec.folder.c_str();
  setup.parent = ::getpid();
  setup.join_group_fd = spec.join_group_fd;
  setup.fds = {null.get(),
               out.write_end.get(),
               err.write_end.get(),
               request.read_end.get(),
               reply.write_end.get(),
               fault_pipe.write_end.get()};

  Process process;
  process.pid_ = ::fork();
  if (process.pid_ < 0) return SpawnError("cannot start a process", errno);
  if (process.pid_ == 0) RunChild(setup);
  process.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  fault_pipe.write_end.Reset();
  if (const auto fault = ReadFault(fault_pipe.read_end.get())) {
    return DescribeFault(*fault, program, spec.folder);
  }
  process.request = std::move(request.write_end);
  process.reply = std::move(reply.read_end);
  process.out = std::move(out.read_end);
  process.err = std::move(err.read_end);
  for (const UniqueFd* fd : {&process.request, &process.reply, &process.out, &process.err}) {
    SetNonBlocking(*fd);
  }
  return process;
}

Process::Process(Process&& other) noexcept
    : request(std::move(other.request)),
      reply(std::move(other.reply)),
      out(std::move(other.out)),
      err(std::move(other.err)),
      pid_(std::exchange(other.pid_, -1)),
      reaped_(other.reaped_),
      pidfd_(std::move(other.pidfd_)) {}

Process::~Process() {
  if (pid_ <= 0 || reaped_) return;
  SignalGroup(SIGKILL);
  ::kill(pid_, SIGKILL);  // It may have had no time to make its group.
  Reap();
}

std::optional<ExitStatus> Process::Ended() const {
  siginfo_t info{};
  if (pid_ <= 0 || reaped_) return std::nullopt;
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return std::nullopt;
  }
  return FromInfo(info);
}

std::optional<ExitStatus> Process::WaitFor(milliseconds limit) const {
  // The pulse without pidfd: seldom enough to cost nothing, often enough not to be felt.
  constexpr milliseconds kPulse{20};
  const auto deadline = steady_clock::now() + limit;
  while (true) {
    if (const auto ended = Ended()) return ended;
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd entry{pidfd_.get(), POLLIN, 0};
    const auto wait = pidfd_.valid() ? left : std::min(left, kPulse);
    ::poll(&entry, pidfd_.valid() ? 1 : 0, static_cast<int>(wait.count()));
  }
}

void Process::SignalGroup(int signal) const {
  if (pid_ > 0 && !reaped_) ::kill(-pid_, signal);
}

void Process::Reap() {
  if (pid_ <= 0 || reaped_) return;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
}

}  // namespace dlbench::worker
