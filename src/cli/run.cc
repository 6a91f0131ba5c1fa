#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/validators.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/text.h"
#include "experiment/campaign.h"
#include "experiment/report_model.h"
#include "machine/machine.h"
#include "store/store.h"

namespace dlbench::cli {
namespace {

/// Options of `run` and `verify`. Lists are comma-separated.
struct Options {
  std::vector<std::string> networks;
  std::vector<std::string> frameworks, presets, modes, devices, precisions, inputs, settings;
  std::vector<std::int64_t> batches;
  std::vector<int> threads;
  std::string experiment, data;
  std::optional<std::uint64_t> seed;
  std::int64_t rounds = 0;
  double launch_seconds = 0.0, warmup_seconds = 0.0, margin = 0.0;
  bool quick = false, resume = false, keep = false, dry_run = false, quiet = false;
  std::string out = "dlbench-results";
  std::string format = "table";
};

void AddAxes(CLI::App& command, Options& options) {
  command.add_option("network", options.networks, "Networks: names or network files")
      ->delimiter(',');
  command
      .add_option("--experiment", options.experiment, "Experiment file (TOML) with the same keys")
      ->check(CLI::ExistingFile);
  command.add_option("--frameworks", options.frameworks, "Frameworks, for example onednn,pytorch")
      ->delimiter(',');
  command.add_option("--presets", options.presets, "Presets; by default all of each framework")
      ->delimiter(',');
  command.add_option("--batch", options.batches, "Batch sizes (default 64)")
      ->delimiter(',')
      ->check(AboveZero());
  command.add_option("--threads", options.threads, "Thread counts (default: all that may be used)")
      ->delimiter(',')
      ->check(AboveZero());
  command.add_option("--mode", options.modes, "train (default)")->delimiter(',');
  command.add_option("--device", options.devices, "cpu (default), cuda:0 ...")->delimiter(',');
  command.add_option("--precision", options.precisions, "float32 (default)")->delimiter(',');
  command.add_option("--input", options.inputs, "resident (default) or fed")->delimiter(',');
  command.add_option("--set", options.settings, "NAME=VALUE for every adapter")->delimiter(',');
  command.add_option("--data", options.data,
                     "'synthetic', or a folder or text file of yours (default: what 'dlbench data' "
                     "lists)");
  command.add_option("--seed", options.seed, "Of weights, batches and order (default 1)");
  command.add_option("--out", options.out, "Results folder (default dlbench-results)");
  command.add_option("--format", options.format, "table, markdown, csv or json");
  command.add_flag("--keep", options.keep,
                   "Keep weights, batches, reference and the adapters' tensors");
  command.add_flag("--dry-run", options.dry_run, "Show the plan and stop");
  command.add_flag("--quiet", options.quiet, "No progress");
}

template <class T>
void TakeIfGiven(const std::vector<T>& given, std::vector<T>& into) {
  if (!given.empty()) into = given;
}

Status TakeSettings(const Options& options, experiment::Plan& plan) {
  for (const std::string& setting : options.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(ErrorCode::kUsage, fmt::format("--set '{}': expected NAME=VALUE", setting));
    }
    plan.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return {};
}

/// The experiment file, if any, with what the command line says over it.
Result<experiment::Plan> MakePlan(const Options& options) {
  experiment::Plan plan;
  if (!options.experiment.empty()) {
    DLBENCH_ASSIGN_OR_RETURN(plan, experiment::LoadPlan(options.experiment));
  }
  if (options.quick) experiment::MakeQuick(plan);
  TakeIfGiven(options.networks, plan.networks);
  TakeIfGiven(options.frameworks, plan.frameworks);
  TakeIfGiven(options.presets, plan.presets);
  TakeIfGiven(options.batches, plan.batches);
  TakeIfGiven(options.threads, plan.threads);
  TakeIfGiven(options.modes, plan.modes);
  TakeIfGiven(options.devices, plan.devices);
  TakeIfGiven(options.precisions, plan.precisions);
  TakeIfGiven(options.inputs, plan.inputs);
  if (!options.data.empty()) plan.data = options.data;
  if (options.seed) plan.seed = *options.seed;
  if (options.rounds > 0) plan.rounds = options.rounds;
  if (options.launch_seconds > 0.0) plan.launch_seconds = options.launch_seconds;
  if (options.warmup_seconds > 0.0) plan.warmup_seconds = options.warmup_seconds;
  if (options.margin > 0.0) plan.margin = options.margin;
  DLBENCH_RETURN_IF_ERROR(TakeSettings(options, plan));
  if (plan.frameworks.empty()) plan.frameworks = {"onednn"};
  return plan;
}

int ExitStatusOf(const report::Report& report, bool interrupted) {
  if (interrupted) return kInterrupted;
  bool any_timed = false;
  for (const report::ResultRow& row : report.results) {
    if (row.status == "unequal" || row.status == "failed" || row.status == "impossible") {
      return kBadResult;
    }
    any_timed = any_timed || row.status == "timed";
  }
  return any_timed ? kDone : kUnresolved;
}

/// `verify` succeeds when everything that ran was proved equal.
int VerifyStatusOf(const report::Report& report, bool interrupted) {
  if (interrupted) return kInterrupted;
  bool any_equal = false;
  for (const report::ResultRow& row : report.results) {
    const bool equal = row.verification && row.verification->status == "equal";
    if (!equal && row.status != "unsupported") return kBadResult;
    any_equal = any_equal || equal;
  }
  return any_equal ? kDone : kUnresolved;
}

Status Execute(const Options& options, bool verify_only, Context& context) {
  DLBENCH_ASSIGN_OR_RETURN(const report::Format format, report::ParseFormat(options.format));
  DLBENCH_ASSIGN_OR_RETURN(experiment::Plan plan, MakePlan(options));
  SystemClock clock;
  experiment::CampaignContext campaign;
  campaign.places = context.places;
  campaign.network_folders = context.network_folders;
  campaign.results_folder = options.out;
  campaign.resume = options.resume;
  campaign.keep = options.keep;
  campaign.verify_only = verify_only;
  campaign.clock = &clock;
  campaign.machine = machine::Detect();
  DLBENCH_ASSIGN_OR_RETURN(const auto arms, experiment::ResolveArms(plan, campaign));
  if (options.dry_run) {
    experiment::PrintPlan(plan, arms, *context.out);
    return {};
  }
  for (const std::string& warning : campaign.machine.warnings) {
    if (!options.quiet) *context.err << "warning: " << warning << '\n';
  }
  DLBENCH_ASSIGN_OR_RETURN(const auto store, store::Store::Open(options.out));
  if (!verify_only) {
    machine::PeakOptions peaks;
    peaks.threads = plan.threads;
    campaign.peaks = machine::CachedPeaks(campaign.machine, peaks, CacheHome());
  }
  const InterruptGuard guard;
  campaign.interrupted = guard.flag();
  experiment::ProcessLauncher launcher(clock, guard.flag(), CacheHome());
  campaign.launcher = &launcher;
  using Style = experiment::Progress::Style;
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  experiment::Progress progress(*context.err, clock,
                                options.quiet ? Style::kSilent
                                : terminal    ? Style::kTerminal
                                              : Style::kPlain,
                                static_cast<std::size_t>(TerminalWidth(STDERR_FILENO)));
  campaign.progress = &progress;
  campaign.command_line = DescribePlan(plan, verify_only);
  DLBENCH_ASSIGN_OR_RETURN(const std::int64_t id, experiment::RunCampaign(plan, campaign, *store));
  DLBENCH_ASSIGN_OR_RETURN(const report::Report report,
                           experiment::BuildReport(*store, id, options.out));
  WriteReport(context, report, format);
  const bool interrupted = *guard.flag() != 0;
  context.exit_status =
      verify_only ? VerifyStatusOf(report, interrupted) : ExitStatusOf(report, interrupted);
  return {};
}

void AddCommand(CLI::App& app, Context& context, const char* name, const char* what,
                bool verify_only) {
  CLI::App* command = app.add_subcommand(name, what);
  auto options = std::make_shared<Options>();
  AddAxes(*command, *options);
  if (!verify_only) {
    command->add_option("--rounds", options->rounds, "Rounds of fresh processes (default 10)")
        ->check(CLI::Range(1, 1000));
    command->add_option("--launch-seconds", options->launch_seconds, "Timed length (default 2)")
        ->check(AboveZero());
    command->add_option("--warmup-seconds", options->warmup_seconds, "Warm-up (default 1)")
        ->check(AboveZero());
    command
        ->add_option("--margin", options->margin,
                     "Smallest difference that matters, as a fraction (default 0.05)")
        ->check(CLI::Range(0.0001, 0.9999));
    command->add_flag("--quick", options->quick,
                      "A quick look: 6 short rounds, one preset a framework, no verdict");
    command->add_flag("--resume", options->resume,
                      "Go on with the unfinished campaign of this plan");
  }
  command->callback([options, verify_only, &context] {
    if (const Status status = Execute(*options, verify_only, context); !status.ok()) {
      Fail(context, status.error());
    }
  });
}

}  // namespace

void AddRunCommand(CLI::App& app, Context& context) {
  AddCommand(app, context, "run", "Prove configurations equal, time them and compare", false);
}

void AddVerifyCommand(CLI::App& app, Context& context) {
  AddCommand(app, context, "verify", "Prove configurations equal to the reference, no timing",
             true);
}

}  // namespace dlbench::cli
