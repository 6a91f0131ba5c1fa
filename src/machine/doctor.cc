#include "machine/doctor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "core/file.h"
#include "core/text.h"
#include "machine/environment.h"
#include "machine/version.h"

namespace dlbench::machine {
namespace {

namespace fs = std::filesystem;
using Severity = Finding::Severity;

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
// What a PyTorch environment for the CPU takes, unpacked, with some room.
constexpr double kSmallDataGiB = 2.0;

std::string Install(const std::string& packages) {
  return "sudo apt-get install --no-install-recommends " + packages;
}

class RealProbe final : public SystemProbe {
 private:
  std::optional<std::string> DoOutput(const std::vector<std::string>& command) const override;

  std::optional<std::uint64_t> DoFreeBytes(const fs::path& folder) const override {
    fs::path existing = folder.is_absolute() ? folder : fs::current_path() / folder;
    std::error_code error;
    while (!fs::exists(existing, error) && existing.has_relative_path()) {
      existing = existing.parent_path();
    }
    struct statvfs info {};
    if (::statvfs(existing.c_str(), &info) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  }
};

/// Everything from `fd` until its end; nothing if that takes more than ten seconds.
std::optional<std::string> ReadForTenSeconds(int fd) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string text;
  char buffer[1024];
  while (std::chrono::steady_clock::now() < deadline && text.size() < (1U << 20)) {
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, 200) <= 0) continue;
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count == 0) return text;
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  return std::nullopt;
}

std::optional<std::string> RealProbe::DoOutput(const std::vector<std::string>& command) const {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  write_end.Reset();
  if (failed != 0) return std::nullopt;
  const std::optional<std::string> text = ReadForTenSeconds(read_end.get());
  if (!text) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : std::nullopt;
}

/// Collects findings for Diagnose, one question at a time.
class Doctor {
 public:
  Doctor(const Machine& machine, fs::path root, const SystemProbe& probe)
      : machine_(machine), root_(std::move(root)), probe_(probe) {}

  void Compiler() {
    const auto version = probe_.Output({"g++", "-dumpfullversion"});
    if (!version) {
      return Add(Severity::kProblem, "g++ is missing; adapters in C++ (libtorch) are built with it",
                 Install("g++"));
    }
    const std::string text(Trim(*version));
    if (CompareVersions(text, "10") < 0) {
      return Add(Severity::kProblem,
                 "g++ " + Printable(text) + " is too old; C++20 needs 10 or newer", Install("g++"));
    }
    Add(Severity::kOk, "g++ " + Printable(text));
  }

  void Python() {
    // Asked of the interpreter itself: it may be anybody's, not only Debian's.
    const auto answer = probe_.Output(
        {"python3", "-c",
         "import sys, sysconfig, os, importlib.util as u\n"
         "print('%d.%d.%d' % sys.version_info[:3])\n"
         "print(all(u.find_spec(m) is not None for m in ('venv', 'ensurepip')))\n"
         "print(os.path.exists(os.path.join(sysconfig.get_paths()['include'], 'Python.h')))\n"});
    if (!answer) {
      return Add(Severity::kProblem, "python3 is missing; PyTorch and libtorch need it",
                 Install("python3 python3-venv python3-dev"));
    }
    const std::vector<std::string> lines = Split(Trim(*answer), '\n');
    const std::string version = Printable(lines[0]);
    if (lines.size() != 3) {
      return Add(Severity::kWarning, "python3 gave an answer that was not understood");
    }
    if (CompareVersions(version, "3.11") < 0) {
      return Add(Severity::kProblem,
                 "python3 is " + version + "; the locked environments need 3.11 or newer",
                 Install("python3.11 python3.11-venv python3.11-dev"));
    }
    Add(Severity::kOk, "python3 " + version);
    if (Trim(lines[1]) == "True") {
      Add(Severity::kOk, "python3 can make environments (venv)");
    } else {
      Add(Severity::kProblem, "python3-venv is missing; environments are made with it",
          Install("python3-venv"));
    }
    if (Trim(lines[2]) == "True") {
      Add(Severity::kOk, "Python.h is there (python3-dev)");
    } else {
      Add(Severity::kProblem, "Python.h is missing; compiled PyTorch builds code with it",
          Install("python3-dev"));
    }
  }

  void Data() {
    std::error_code error;
    const fs::path file = root_ / "usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";
    if (fs::exists(file, error)) return Add(Severity::kOk, "the data set Fashion-MNIST is there");
    Add(Severity::kProblem,
        "the data set Fashion-MNIST is missing; networks on it run only with --data synthetic",
        Install("dataset-fashion-mnist"));
  }

  void Space(const char* what, const fs::path& folder, double problem_gib, double warning_gib) {
    const auto bytes = probe_.FreeBytes(folder);
    if (!bytes) {
      return Add(Severity::kWarning,
                 fmt::format("free space of the {} folder '{}' is unknown", what, Shown(folder)));
    }
    const double free_gib = static_cast<double>(*bytes) / kGiB;
    const std::string text =
        fmt::format("{:.1f} GiB free for {} ('{}')", free_gib, what, Shown(folder));
    if (free_gib >= warning_gib) return Add(Severity::kOk, text);
    const bool problem = free_gib < problem_gib;
    Add(problem ? Severity::kProblem : Severity::kWarning,
        fmt::format("only {}; at least {:.1f} GiB are wanted", text,
                    problem ? problem_gib : warning_gib),
        "du -xh --max-depth=1 " + Shown(folder));
  }

  void Threads() {
    const int usable = machine_.usable_threads;
    std::string text = fmt::format("{} thread{} usable", usable, usable == 1 ? "" : "s");
    if (machine_.cgroup_cpu_quota) {
      text += fmt::format(" (a quota of {:.2f} CPUs)", *machine_.cgroup_cpu_quota);
    }
    Add(Severity::kOk, text);
  }

  void Clock() {
    if (!machine_.governor) {
      return Add(Severity::kOk, "the frequency governor is unknown (this machine shows none)");
    }
    if (*machine_.governor == "performance") {
      return Add(Severity::kOk, "the frequency governor is 'performance'");
    }
    Add(Severity::kWarning, "the frequency governor is '" + Printable(*machine_.governor) + "'",
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
  }

  void Settings() {
    for (EnvironmentWarning& warning :
         EnvironmentWarnings(machine_.relevant_environment, machine_.usable_threads)) {
      Add(Severity::kWarning, std::move(warning.text), std::move(warning.command));
    }
  }

  void Hypervisor() {
    if (!machine_.virtualization || *machine_.virtualization == "none") return;
    const bool wsl = *machine_.virtualization == "wsl";
    std::string text = wsl ? "this is the Windows Subsystem for Linux (WSL)"
                           : "this is a virtual machine (" + *machine_.virtualization + ")";
    if (!machine_.unavailable.empty()) {
      text += "; not available: " + Join(machine_.unavailable, ", ");
    }
    Add(Severity::kOk, text);
  }

  std::vector<Finding> Take() { return std::move(findings_); }

 private:
  static std::string Shown(const fs::path& folder) { return Printable(folder.string()); }
  void Add(Severity severity, std::string what, std::string command = "") {
    findings_.push_back({severity, std::move(what), std::move(command)});
  }

  const Machine& machine_;
  fs::path root_;
  const SystemProbe& probe_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> DiagnoseWith(const Machine& machine, const fs::path& root,
                                  const SystemProbe& probe, const WrittenFolders& folders) {
  Doctor doctor(machine, root, probe);
  doctor.Compiler();
  doctor.Python();
  doctor.Data();
  doctor.Space("environments", folders.data, kSmallDataGiB, 3 * kSmallDataGiB);
  doctor.Space("caches", folders.cache, 0.1, 1.0);
  doctor.Space("results", folders.results, 0.1, 1.0);
  doctor.Threads();
  doctor.Clock();
  doctor.Hypervisor();
  doctor.Settings();
  return doctor.Take();
}

std::vector<Finding> Diagnose(const Machine& machine, const fs::path& root) {
  return DiagnoseWith(machine, root, RealProbe(), {DataHome(), CacheHome(), "dlbench-results"});
}

}  // namespace dlbench::machine
