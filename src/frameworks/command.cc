#include "frameworks/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/clock.h"
#include "core/file.h"
#include "core/text.h"

namespace dlbench::frameworks {
namespace {

constexpr std::size_t kKeptBytes = 1U << 20;

std::vector<std::string> MakeEnvironment(const Command& command) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    merged[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  }
  for (const std::string& name : command.unset) merged.erase(name);
  for (const auto& [name, value] : command.environment) merged[name] = value;
  std::vector<std::string> lines;
  for (const auto& [name, value] : merged) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// One stream of the child: what is kept of it, and the line being read.
struct Stream {
  UniqueFd fd;
  std::string* kept = nullptr;
  std::string line;
};

/// Reads what is there; false at the end of the stream.
bool ReadSome(Stream& stream, const std::function<void(const std::string&)>& on_line) {
  std::array<char, 8192> buffer{};
  const ssize_t count = ::read(stream.fd.get(), buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
  stream.kept->append(text.substr(0, kKeptBytes - std::min(kKeptBytes, stream.kept->size())));
  for (const char c : text) {
    if (c != '\n' && c != '\r') {
      stream.line.push_back(c);
      continue;
    }
    if (on_line && !stream.line.empty()) on_line(stream.line);
    stream.line.clear();
  }
  if (count == 0 && on_line && !stream.line.empty()) on_line(stream.line);
  return count > 0;
}

/// Milliseconds left until `deadline_ns`, for poll; -1 without one.
int Remaining(const std::optional<std::int64_t>& deadline_ns) {
  if (!deadline_ns) return -1;
  const std::int64_t left = (*deadline_ns - SystemClock().MonotonicNs()) / 1'000'000;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// Reads both streams to their ends; true if the limit ran out first.
bool ReadAll(std::array<Stream, 2>& streams, const Command& command) {
  std::optional<std::int64_t> deadline_ns;
  if (command.limit) {
    deadline_ns = SystemClock().MonotonicNs() + std::chrono::nanoseconds(*command.limit).count();
  }
  while (streams[0].fd.valid() || streams[1].fd.valid()) {
    std::array<pollfd, 2> waits{pollfd{streams[0].fd.get(), POLLIN, 0},
                                pollfd{streams[1].fd.get(), POLLIN, 0}};
    const int ready = ::poll(waits.data(), waits.size(), Remaining(deadline_ns));
    if (ready < 0 && errno != EINTR) return false;
    if (ready == 0 && Remaining(deadline_ns) == 0) return true;
    if (ready <= 0) continue;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents != 0 && !ReadSome(streams[i], command.line)) streams[i].fd.Reset();
    }
  }
  return false;
}

[[noreturn]] void BecomeProgram(const char* path, char* const* argv, char* const* environment,
                                int out, int err, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // The parent died before the line above.
  const int none = ::open("/dev/null", O_RDONLY);
  ::dup2(none, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execve(path, argv, environment);
  ::_exit(127);
}

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error(ErrorCode::kIo, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

std::string CommandResult::HowItEnded() const {
  if (timed_out) return "no end within the time limit";
  if (signal) return "signal " + std::to_string(*signal) + " (" + ::strsignal(*signal) + ")";
  return "exit status " + std::to_string(exit_status);
}

std::optional<std::string> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return ::access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : Split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code ignored;
    if (::access(candidate.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(candidate, ignored)) {
      return candidate;
    }
  }
  return std::nullopt;
}

Result<CommandResult> RunCommand(const Command& command) {
  const std::optional<std::string> path = FindProgram(command.argv.at(0));
  if (!path) {
    return Error(ErrorCode::kNotFound, "there is no program '" + command.argv[0] + "'");
  }
  DLBENCH_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  DLBENCH_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> environment = MakeEnvironment(command);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return Error(ErrorCode::kIo, "cannot start '" + *path + "': " + std::strerror(errno));
  }
  if (child == 0) {
    BecomeProgram(path->c_str(), argv.data(), envp.data(), out.write.get(), err.write.get(),
                  parent);
  }
  out.write.Reset();
  err.write.Reset();
  CommandResult result;
  std::array<Stream, 2> streams{Stream{std::move(out.read), &result.out, {}},
                                Stream{std::move(err.read), &result.err, {}}};
  result.timed_out = ReadAll(streams, command);
  if (result.timed_out) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  return result;
}

std::string LastLines(const std::string& text, int count) {
  std::vector<std::string> lines = Split(Trim(text), '\n');
  const std::size_t keep = std::min(lines.size(), static_cast<std::size_t>(count));
  return Join({lines.end() - static_cast<std::ptrdiff_t>(keep), lines.end()}, "\n");
}

}  // namespace dlbench::frameworks
