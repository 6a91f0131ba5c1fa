// How long a program takes to start, against /bin/true started the same way, in alternation
// (docs/benchmarks.md).

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "goal.h"

namespace {

using dlbench::Error;
using dlbench::ErrorCode;
using dlbench::Result;
using dlbench::bench::Verdict;

const dlbench::bench::Goal kGoal{std::nullopt, 3.0};

struct Options {
  std::vector<std::string> argv{DLBENCH_BINARY_DIR "/bin/dlbench", "--help"};
  std::string base = "/bin/true";
  int pairs = 50;
  std::uint64_t seed = 1;
};

struct Started {
  double wall_ms = 0.0;  ///< From fork to the end of the program.
  double cpu_ms = 0.0;   ///< Of the child: what others' work on the machine hardly changes.
};

double Milliseconds(const timeval& time) {
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
}

/// Runs `command` with its output thrown away.
Result<Started> Start(const std::vector<std::string>& command, dlbench::Clock& clock) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::int64_t begin = clock.MonotonicNs();
  const pid_t child = ::fork();
  if (child < 0) return Error(ErrorCode::kIo, "cannot start another process");
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  const std::int64_t end = clock.MonotonicNs();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Error(ErrorCode::kFailed, command.front() + " did not end with 0");
  }
  return Started{static_cast<double>(end - begin) * 1e-6,
                 Milliseconds(usage.ru_utime) + Milliseconds(usage.ru_stime)};
}

/// One program's starts.
struct Times {
  void Add(const Started& started) {
    wall_ms.push_back(started.wall_ms);
    cpu_ms.push_back(started.cpu_ms);
  }
  std::string Words() const {
    return fmt::format("{:.2f} ms ({:.2f} ms of processor time)",
                       dlbench::stats::Median(wall_ms).value_or(0.0),
                       dlbench::stats::Median(cpu_ms).value_or(0.0));
  }
  std::vector<double> wall_ms, cpu_ms;
};

Result<Verdict> Measure(const Options& options) {
  dlbench::SystemClock clock;
  const std::vector<std::string> base{options.base};
  for (const auto& command : {options.argv, base}) {  // Brings both files into memory.
    DLBENCH_ASSIGN_OR_RETURN([[maybe_unused]] const Started first, Start(command, clock));
  }
  std::mt19937_64 random(options.seed);
  Times tested_times, base_times;
  std::vector<double> logs;
  for (int pair = 0; pair < options.pairs; ++pair) {
    const bool tested_first = random() % 2 == 0;
    DLBENCH_ASSIGN_OR_RETURN(const Started one, Start(tested_first ? options.argv : base, clock));
    DLBENCH_ASSIGN_OR_RETURN(const Started two, Start(tested_first ? base : options.argv, clock));
    tested_times.Add(tested_first ? one : two);
    base_times.Add(tested_first ? two : one);
    logs.push_back(std::log(tested_times.wall_ms.back() / base_times.wall_ms.back()));
  }
  const auto interval = dlbench::bench::IntervalOfLogs(logs);
  if (!interval) return Error(ErrorCode::kFailed, "nothing was started");
  const std::string command = fmt::format("{}", fmt::join(options.argv, " "));
  std::cout << "medians: " << tested_times.Words() << " and " << base_times.Words() << '\n';
  return dlbench::bench::Report(
      std::cout,
      fmt::format("start of {} / start of {}, {} pairs", command, options.base, options.pairs),
      *interval, "", kGoal);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Start of a program against the start of /bin/true.");
  app.footer("Behind the options: program and arguments to start (default: dlbench --help).");
  app.prefix_command();
  app.add_option("--base", options.base, "Program to compare with (default /bin/true)");
  app.add_option("--pairs", options.pairs, "Default: 50")->check(CLI::Range(1, 100'000));
  app.add_option("--seed", options.seed, "Of the order within pairs (default 1)");
  CLI11_PARSE(app, argc, argv);
  if (const auto command = app.remaining(); !command.empty()) options.argv = command;
  const auto verdict = Measure(options);
  if (verdict.ok()) return dlbench::bench::ExitStatus(*verdict);
  std::cerr << "start_time: " << verdict.error().message() << '\n';
  return 2;
}
