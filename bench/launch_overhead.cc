// What a launch takes beyond the adapter's own work: starting it, talking with it, looking at it,
// ending it (docs/benchmarks.md).

#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "experiment/launcher.h"
#include "goal.h"
#include "launches.h"

namespace {

using dlbench::Error;
using dlbench::ErrorCode;
using dlbench::Result;
using dlbench::bench::Verdict;
namespace experiment = dlbench::experiment;

/// Milliseconds.
const dlbench::bench::Goal kGoal{std::nullopt, 50.0};

struct Options {
  std::string adapter = PLAIN_ADAPTER;
  int launches = 30;
};

/// Processor time of all children that have ended: with one thread that never sleeps of its own
/// accord, the time that the adapter would have taken alone.
double EndedChildrenMs() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto ms = [](const timeval& time) {
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

experiment::Arm ArmOf(const std::string& adapter, const experiment::Case& inputs) {
  experiment::Arm arm;
  arm.installation.id = arm.installation.name = "plain";
  arm.installation.argv = {adapter};
  arm.preset = "default";
  arm.network = inputs.network().name;
  arm.batch = inputs.batch();
  arm.mode = "train";
  arm.device = "cpu";
  arm.precision = "float32";
  arm.input = "resident";
  return arm;
}

Result<Verdict> Measure(const Options& options) {
  const dlbench::bench::ScratchFolder scratch("launch");
  DLBENCH_ASSIGN_OR_RETURN(const auto inputs,
                           dlbench::bench::MakeInputs("fcn-tiny", 16, scratch.path()));
  DLBENCH_ASSIGN_OR_RETURN(const auto* gate, inputs->GateFor(true));
  const experiment::Arm arm = ArmOf(options.adapter, *inputs);
  experiment::LaunchRequest request;
  request.arm = &arm;
  request.network = &inputs->network();
  request.sequence = &gate->sequence();
  request.weights = inputs->weights_path();
  request.batches = inputs->batches_path();
  request.pool = inputs->pool();
  request.timed_steps = 5;
  dlbench::SystemClock clock;
  experiment::ProcessLauncher launcher(clock, nullptr, scratch.path() / "cache");
  std::vector<double> overhead_ms, whole_ms;
  for (int launch = 0; launch < options.launches; ++launch) {
    request.folder = scratch.path() / fmt::format("launch-{}", launch);
    const double children_before = EndedChildrenMs();
    const std::int64_t begin = clock.MonotonicNs();
    const auto seen = launcher.Launch(request);
    const double whole = static_cast<double>(clock.MonotonicNs() - begin) * 1e-6;
    if (seen.failure) return Error(ErrorCode::kFailed, seen.failure->message);
    whole_ms.push_back(whole);
    overhead_ms.push_back(whole - (EndedChildrenMs() - children_before));
  }
  const auto interval = dlbench::stats::HodgesLehmann(overhead_ms);
  if (!interval) return Error(ErrorCode::kFailed, "nothing was launched");
  const auto name =
      fmt::format("whole launch (median {:.1f} ms) less the adapter's processor time, {} launches",
                  dlbench::stats::Median(whole_ms).value_or(0.0), options.launches);
  return dlbench::bench::Report(std::cout, name, *interval, "ms", kGoal);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What a launch takes beyond the adapter's own work.");
  app.add_option("--adapter", options.adapter, "A one-threaded adapter (default: the tests' own)");
  app.add_option("--launches", options.launches, "Default: 30")->check(CLI::Range(1, 10'000));
  CLI11_PARSE(app, argc, argv);
  const auto verdict = Measure(options);
  if (verdict.ok()) return dlbench::bench::ExitStatus(*verdict);
  std::cerr << "launch_overhead: " << verdict.error().message() << '\n';
  return 2;
}
