// What dlbench itself uses of the processor while a framework's steps are timed
// (docs/benchmarks.md).

#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "goal.h"
#include "launches.h"
#include "measure/measure.h"

namespace {

using dlbench::Error;
using dlbench::ErrorCode;
using dlbench::Result;
using dlbench::bench::Subject;
using dlbench::bench::Verdict;

/// Percent of one core.
const dlbench::bench::Goal kGoal{std::nullopt, 1.0};

struct Options {
  Subject subject;
  double seconds = 5.0;
  int runs = 8;
};

/// Of all threads of this process.
double OwnCpuSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Steps that take about `seconds`.
Result<std::int64_t> StepsFor(dlbench::worker::Session& session, double seconds) {
  const auto trial = session.Run({20, 5, 0, false});
  if (!trial.ok()) return Error(ErrorCode::kFailed, trial.failure().message);
  const auto summary = dlbench::measure::Summarize(trial->records, 1, 0);
  if (!summary) return Error(ErrorCode::kFailed, "the trial run has no usable times");
  const double steps = seconds / summary->median_step_seconds;
  return static_cast<std::int64_t>(std::clamp(steps, 20.0, 200'000.0));
}

Result<Verdict> Measure(Options options) {
  Subject& subject = options.subject;
  DLBENCH_ASSIGN_OR_RETURN(const auto installation, dlbench::bench::FindInstallation(subject));
  const dlbench::bench::ScratchFolder scratch("harness-cpu");
  DLBENCH_ASSIGN_OR_RETURN(const auto inputs, dlbench::bench::MakeInputs(
                                                  subject.network, subject.batch, scratch.path()));
  dlbench::SystemClock clock;
  DLBENCH_ASSIGN_OR_RETURN(
      const auto session,
      dlbench::bench::StartWarm(subject, installation, *inputs, clock, scratch.path() / "launch"));
  DLBENCH_ASSIGN_OR_RETURN(const std::int64_t steps, StepsFor(*session, options.seconds));
  std::vector<double> percents;
  for (int run = 0; run < options.runs; ++run) {
    // From before the request is written until its answer is parsed and checked: more than what
    // runs beside the steps.
    const double before = OwnCpuSeconds();
    const auto ran = session->Run({steps, 5, 0, true});
    const double used = OwnCpuSeconds() - before;
    if (!ran.ok()) return Error(ErrorCode::kFailed, ran.failure().message);
    percents.push_back(100.0 * used /
                       (static_cast<double>(ran->reply_ns - ran->request_ns) * 1e-9));
  }
  const auto interval = dlbench::stats::HodgesLehmann(percents);
  if (!interval) return Error(ErrorCode::kFailed, "nothing was run");
  const auto name = fmt::format("own processor time / wall, {}, {} runs of {} steps",
                                subject.Label(), options.runs, steps);
  return dlbench::bench::Report(std::cout, name, *interval, "% of a core", kGoal);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.subject.framework = "onednn";
  CLI::App app("Own processor time of dlbench while a framework's steps are timed.");
  app.add_option("--framework", options.subject.framework, "Default: onednn");
  app.add_option("--preset", options.subject.preset, "Default: recommended where there is one");
  app.add_option("--network", options.subject.network, "Default: fcn-r");
  app.add_option("--batch", options.subject.batch, "Default: 64")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.subject.threads, "Default: 1")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "Of a run, about (default 5)")
      ->check(CLI::Range(0.1, 600.0));
  app.add_option("--runs", options.runs, "Default: 8")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  const auto verdict = Measure(options);
  if (verdict.ok()) return dlbench::bench::ExitStatus(*verdict);
  std::cerr << "harness_cpu: " << verdict.error().message() << '\n';
  return 2;
}
