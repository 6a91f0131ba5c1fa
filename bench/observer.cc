// What the protocol's clock readings cost: an adapter under the protocol against its own bare loop,
// inside one process (docs/benchmarks.md).

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "goal.h"
#include "launches.h"

namespace {

using dlbench::Result;
using dlbench::bench::Subject;
using dlbench::bench::Verdict;

const dlbench::bench::Goal kGoal{0.98, 1.02};

struct Options {
  std::vector<std::string> frameworks{"onednn", "libtorch", "pytorch"};
  Subject subject;
  dlbench::worker::ObserverRequest request;
  int launches = 1;
};

/// ln(protocol / bare) of the pairs of one process: the n-th block of one kind and of the other.
std::vector<double> LogRatios(const dlbench::worker::Observed& observed) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < observed.bare_ns.size(); ++i) {
    logs.push_back(std::log(static_cast<double>(observed.protocol_ns[i]) /
                            static_cast<double>(observed.bare_ns[i])));
  }
  return logs;
}

Result<Verdict> Measure(Subject subject, const Options& options,
                        const dlbench::experiment::Case& inputs,
                        const std::filesystem::path& folder) {
  DLBENCH_ASSIGN_OR_RETURN(const auto installation, dlbench::bench::FindInstallation(subject));
  dlbench::SystemClock clock;
  std::vector<double> logs;
  for (int launch = 0; launch < options.launches; ++launch) {
    DLBENCH_ASSIGN_OR_RETURN(const auto session, dlbench::bench::StartWarm(subject, installation,
                                                                           inputs, clock, folder));
    auto request = options.request;
    request.seed += static_cast<std::uint64_t>(launch);
    const auto observed = session->Observe(request);
    if (!observed.ok()) {
      return dlbench::Error(dlbench::ErrorCode::kFailed, observed.failure().message);
    }
    const auto more = LogRatios(*observed);
    logs.insert(logs.end(), more.begin(), more.end());
  }
  const auto interval = dlbench::bench::IntervalOfLogs(logs);
  if (!interval) return dlbench::Error(dlbench::ErrorCode::kFailed, "no block was timed");
  const std::string name = fmt::format("protocol / bare loop, {}, {} pairs of blocks of {} steps",
                                       subject.Label(), logs.size(), options.request.block_steps);
  return dlbench::bench::Report(std::cout, name, *interval, "", kGoal);
}

Result<Verdict> MeasureAll(const Options& options) {
  const dlbench::bench::ScratchFolder scratch("observer");
  DLBENCH_ASSIGN_OR_RETURN(
      const auto inputs,
      dlbench::bench::MakeInputs(options.subject.network, options.subject.batch, scratch.path()));
  Verdict worst = Verdict::kHolds;
  for (const std::string& framework : options.frameworks) {
    Subject subject = options.subject;
    subject.framework = framework;
    DLBENCH_ASSIGN_OR_RETURN(const Verdict verdict,
                             Measure(subject, options, *inputs, scratch.path() / "launch"));
    worst = dlbench::bench::Worse(worst, verdict);
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Step time under the protocol against the adapter's own bare loop.");
  app.add_option("--frameworks", options.frameworks, "Default: onednn,libtorch,pytorch")
      ->delimiter(',');
  app.add_option("--preset", options.subject.preset, "Default: recommended where there is one");
  app.add_option("--network", options.subject.network, "Default: fcn-r");
  app.add_option("--batch", options.subject.batch, "Default: 64")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.subject.threads, "Default: 1")->check(CLI::PositiveNumber);
  app.add_option("--blocks", options.request.blocks, "Of each kind in a launch (default 50)")
      ->check(CLI::Range(1, 2000));
  app.add_option("--block-steps", options.request.block_steps, "Steps of a block (default 20)")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--launches", options.launches, "Processes, their pairs pooled (default 1)")
      ->check(CLI::Range(1, 100));
  app.add_option("--seed", options.request.seed, "Of the order of blocks (default 1)");
  CLI11_PARSE(app, argc, argv);
  const auto verdict = MeasureAll(options);
  if (verdict.ok()) return dlbench::bench::ExitStatus(*verdict);
  std::cerr << "observer: " << verdict.error().message() << '\n';
  return 2;
}
