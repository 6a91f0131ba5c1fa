#include "experiment/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/text.h"
#include "data/random.h"
#include "data/sha256.h"
#include "experiment/inputs.h"
#include "experiment/judge.h"
#include "experiment/machine_record.h"
#include "experiment/rows.h"
#include "experiment/schedule.h"
#include "measure/measure.h"

namespace dlbench::experiment {
namespace {

/// After so many failures in a row an arm is not started again: the reason is known by then.
constexpr int kFailuresInARow = 2;
/// An arm while the campaign runs.
struct ArmState {
  const Arm* arm = nullptr;
  Case* inputs = nullptr;
  const verify::Gate* gate = nullptr;
  std::int64_t configuration = 0;
  bool active = true;
  int failures_in_a_row = 0;
  double step_seconds = 0.0;  ///< Calibrated by the gate launch.
  std::int64_t warmup_steps = 0, timed_steps = 0;
};

class Runner {
 public:
  Runner(Plan plan, const CampaignContext& context, store::Store& store)
      : plan_(std::move(plan)), context_(context), store_(store) {}

  Result<std::int64_t> Run() {
    DLBENCH_ASSIGN_OR_RETURN(arms_, ResolveArms(plan_, context_));
    DLBENCH_ASSIGN_OR_RETURN(
        cases_, MakeCases(plan_, context_.network_folders,
                          data::DataRegistry(data::RegistryFile(context_.places.data_home))));
    DLBENCH_RETURN_IF_ERROR(OpenCampaign());
    folder_ = context_.results_folder / fmt::format("campaign-{}", campaign_);
    DLBENCH_RETURN_IF_ERROR(WriteCases(cases_, folder_ / "inputs"));
    DLBENCH_RETURN_IF_ERROR(LoadDone());
    DLBENCH_RETURN_IF_ERROR(RunGates());
    if (!Stopped() && !context_.verify_only) {
      PlanSteps();
      DLBENCH_RETURN_IF_ERROR(RunRounds());
    }
    context_.progress->Clear();
    if (!Stopped()) DLBENCH_RETURN_IF_ERROR(store_.FinishCampaign(campaign_));
    return campaign_;
  }

 private:
  bool Stopped() const { return context_.interrupted != nullptr && *context_.interrupted != 0; }

  Status OpenCampaign();
  Status LoadDone();
  Status RunGates();
  Status RunGate(const Arm& arm);
  void PlanSteps();
  Status RunRounds();
  Status RunTimed(ArmState& state, std::int64_t round, std::int64_t position);
  /// Starts one process, judges it and stores both. Nothing if it was interrupted.
  Result<std::optional<Judgement>> LaunchAndStore(ArmState& state, std::int64_t round,
                                                  std::int64_t position, bool full,
                                                  LaunchObservation& seen);
  Result<worker::Hello> HelloOf(const Arm& arm, std::optional<worker::Failure>& failure);
  Status StoreFailure(const Arm& arm, const worker::Failure& failure);
  void Clean(const std::filesystem::path& folder) const;
  void Report(const ArmState& state, const Judgement& judgement) const;

  Plan plan_;
  const CampaignContext& context_;
  store::Store& store_;
  std::int64_t campaign_ = 0;
  std::filesystem::path folder_;
  std::vector<Arm> arms_;
  std::vector<std::unique_ptr<Case>> cases_;
  std::vector<ArmState> states_;
  std::int64_t next_gate_round_ = -1;  ///< Each resumption gates anew, under a round of its own.
  std::map<std::string, worker::Hello> hellos_;
  std::set<std::int64_t> unequal_;  ///< Configurations that a timed launch proved unequal before.
  /// By (configuration, round): steps of the launch that is there already.
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> done_;
};

Status Runner::OpenCampaign() {
  const std::string plan_json = ToJson(plan_);
  const std::string hash =
      data::Sha256Hex(plan_json + machine::Fingerprint(context_.machine)).substr(0, 16);
  if (context_.resume) {
    DLBENCH_ASSIGN_OR_RETURN(const auto campaigns, store_.Campaigns());
    for (const store::Campaign& campaign : campaigns) {
      if (campaign.plan_hash != hash || campaign.finished) continue;
      campaign_ = campaign.id;
      context_.progress->Note(fmt::format("going on with campaign {}", campaign_));
      return {};
    }
    return Error(ErrorCode::kInput,
                 fmt::format("nothing to resume: '{}' holds no unfinished campaign of this plan on "
                             "this machine; 'dlbench report' shows finished ones",
                             context_.results_folder.string()));
  }
  store::Campaign campaign;
  campaign.started = context_.clock->CalendarLabel();
  campaign.dlbench_version = DLBENCH_VERSION;
  campaign.command_line = context_.command_line;
  campaign.seed = plan_.seed;
  campaign.plan_hash = hash;
  campaign.plan_json = plan_json;
  campaign.machine_json = MachineRecord(context_.machine, context_.peaks);
  campaign.machine_fingerprint = machine::Fingerprint(context_.machine);
  DLBENCH_ASSIGN_OR_RETURN(campaign_, store_.AddCampaign(campaign));
  return {};
}

Status Runner::LoadDone() {
  DLBENCH_ASSIGN_OR_RETURN(const std::int64_t torn, store_.TakeIncomplete());
  if (torn > 0) {
    context_.progress->Note(
        fmt::format("{} launch{} in flight when an earlier run ended: not counted", torn,
                    torn == 1 ? " was" : "es were"));
  }
  DLBENCH_ASSIGN_OR_RETURN(const auto launches, store_.Launches(campaign_));
  for (const store::LaunchRow& launch : launches) {
    next_gate_round_ = std::min(next_gate_round_, launch.round - 1);
    if (launch.round < 0 || launch.status != "done") continue;
    if (!launch.summary) unequal_.insert(launch.configuration);
    if (!launch.summary) continue;
    done_[{launch.configuration, launch.round}] = {launch.summary->warmup_steps,
                                                   launch.summary->steps};
  }
  return {};
}

Result<worker::Hello> Runner::HelloOf(const Arm& arm, std::optional<worker::Failure>& failure) {
  const std::string& id = arm.installation.id;
  const auto known = hellos_.find(id);
  if (known != hellos_.end()) return known->second;
  auto hello = context_.launcher->Greet(arm, folder_ / "greetings" / id);
  if (!hello.ok()) {
    failure = hello.failure();
    worker::Hello unknown;
    unknown.framework = arm.installation.name;
    unknown.framework_version = arm.installation.version;
    return unknown;
  }
  return hellos_.emplace(id, *hello).first->second;
}

Status Runner::StoreFailure(const Arm& arm, const worker::Failure& failure) {
  worker::Hello hello;
  hello.framework_version = arm.installation.version;
  const auto row = ConfigurationOf(arm, *cases_[arm.case_index], hello, plan_.settings);
  LaunchPlace place;
  DLBENCH_ASSIGN_OR_RETURN(place.configuration, store_.AddConfiguration(row));
  place.campaign = campaign_;
  place.round = next_gate_round_;
  place.started = context_.clock->CalendarLabel();
  const auto launch = store_.AddLaunch(LaunchRowOf(place, {}, {failure, std::nullopt}), {});
  if (!launch.ok()) return launch.error();
  return {};
}

Status Runner::RunGates() {
  context_.progress->Begin(static_cast<std::int64_t>(arms_.size()));
  for (const Arm& arm : arms_) {
    if (Stopped()) return {};
    DLBENCH_RETURN_IF_ERROR(RunGate(arm));
    context_.progress->Done();
  }
  return {};
}

Status Runner::RunGate(const Arm& arm) {
  std::optional<worker::Failure> failure;
  DLBENCH_ASSIGN_OR_RETURN(const worker::Hello hello, HelloOf(arm, failure));
  if (failure && failure->kind == worker::FailureKind::kInterrupted) return {};
  if (failure) {
    context_.progress->Note(fmt::format("{}: {}", arm.Label(), failure->message));
    return StoreFailure(arm, *failure);
  }
  ArmState state;
  state.arm = &arm;
  state.inputs = cases_[arm.case_index].get();
  context_.progress->Launching("reference for " + arm.Label());
  DLBENCH_ASSIGN_OR_RETURN(state.gate, state.inputs->GateFor(hello.learning_rate == "input"));
  if (context_.keep) {
    DLBENCH_RETURN_IF_ERROR(
        state.gate->WriteReference(state.inputs->weights_path().parent_path() / "reference"));
  }
  DLBENCH_ASSIGN_OR_RETURN(state.configuration, store_.AddConfiguration(ConfigurationOf(
                                                    arm, *state.inputs, hello, plan_.settings)));
  context_.progress->Launching("gate: " + arm.Label());
  LaunchObservation seen;
  DLBENCH_ASSIGN_OR_RETURN(const auto judgement,
                           LaunchAndStore(state, next_gate_round_, 0, true, seen));
  if (!judgement) return {};
  Report(state, *judgement);
  const bool equal = judgement->gate && judgement->gate->status == verify::GateStatus::kEqual;
  if (!equal) return {};
  const auto summary = measure::Summarize(seen.run->records, 1, 0);
  if (!summary) return {};
  state.step_seconds = summary->median_step_seconds;
  state.active = unequal_.count(state.configuration) == 0;
  states_.push_back(state);
  return {};
}

void Runner::Report(const ArmState& state, const Judgement& judgement) const {
  const std::string label = state.arm->Label();
  if (judgement.failure) {
    context_.progress->Note(fmt::format("{}: {}: {}", label,
                                        worker::ToString(judgement.failure->kind),
                                        judgement.failure->message));
  } else if (judgement.gate->status != verify::GateStatus::kEqual) {
    std::string text = fmt::format("{}: {}: {}", label, verify::ToString(judgement.gate->status),
                                   judgement.gate->reason);
    if (!judgement.gate->diagnosis.empty()) text += "; likely: " + judgement.gate->diagnosis;
    context_.progress->Note(text);
  }
}

void Runner::PlanSteps() {
  // All arms of a comparison take the same steps.
  std::map<std::size_t, std::vector<double>> step_seconds;  // by group
  for (const ArmState& state : states_) {
    step_seconds[state.arm->group_index].push_back(state.step_seconds);
  }
  for (ArmState& state : states_) {
    const LaunchLength length = LengthFor(step_seconds.at(state.arm->group_index),
                                          plan_.warmup_seconds, plan_.launch_seconds);
    state.warmup_steps = length.warmup_steps;
    state.timed_steps = length.timed_steps;
  }
  // A resumed campaign keeps the numbers it began with.
  for (const auto& [key, steps] : done_) {
    const std::int64_t configuration = key.first;  // clang 14 captures no structured binding
    const auto same = std::find_if(states_.begin(), states_.end(), [&](const ArmState& state) {
      return state.configuration == configuration;
    });
    if (same == states_.end()) continue;
    for (ArmState& state : states_) {
      if (state.arm->group_index != same->arm->group_index) continue;
      state.warmup_steps = steps.first;
      state.timed_steps = steps.second;
    }
  }
}

Status Runner::RunRounds() {
  const auto orders =
      RoundOrders(states_.size(), static_cast<std::size_t>(plan_.rounds), plan_.seed);
  std::int64_t missing = 0;
  for (const ArmState& state : states_) {
    for (std::int64_t round = 0; round < plan_.rounds; ++round) {
      if (done_.count({state.configuration, round}) == 0) ++missing;
    }
  }
  context_.progress->Begin(missing);
  for (std::size_t round = 0; round < orders.size(); ++round) {
    for (std::size_t position = 0; position < orders[round].size(); ++position) {
      ArmState& state = states_[orders[round][position]];
      const auto number = static_cast<std::int64_t>(round);
      if (done_.count({state.configuration, number}) > 0) continue;
      if (Stopped()) return {};
      if (state.active) {
        context_.progress->Launching(fmt::format("round {}: {}", round + 1, state.arm->Label()));
        DLBENCH_RETURN_IF_ERROR(RunTimed(state, number, static_cast<std::int64_t>(position)));
      }
      context_.progress->Done();
    }
  }
  return {};
}

Status Runner::RunTimed(ArmState& state, std::int64_t round, std::int64_t position) {
  // One timed launch of each arm, chosen by the seed, is checked as fully as the gate launch.
  const data::NamedStream stream(plan_.seed, "full check");
  const bool full =
      stream.Below(static_cast<std::uint64_t>(state.configuration),
                   static_cast<std::uint64_t>(plan_.rounds)) == static_cast<std::uint64_t>(round);
  LaunchObservation seen;
  DLBENCH_ASSIGN_OR_RETURN(const auto judgement,
                           LaunchAndStore(state, round, position, full, seen));
  if (!judgement) return {};
  Report(state, *judgement);
  if (judgement->failure) {
    state.active = ++state.failures_in_a_row < kFailuresInARow;
  } else {
    state.failures_in_a_row = 0;
    state.active = judgement->gate->status == verify::GateStatus::kEqual;
  }
  return {};
}

Result<std::optional<Judgement>> Runner::LaunchAndStore(ArmState& state, std::int64_t round,
                                                        std::int64_t position, bool full,
                                                        LaunchObservation& seen) {
  const std::string name = round < 0 ? fmt::format("gate-{}-{}", -round, state.configuration)
                                     : fmt::format("round-{}-{}", round, state.configuration);
  LaunchRequest request;
  request.arm = state.arm;
  request.network = &state.inputs->network();
  request.sequence = &state.gate->sequence();
  request.weights = state.inputs->weights_path();
  request.batches = state.inputs->batches_path();
  request.pool = state.inputs->pool();
  request.settings = plan_.settings;
  request.folder = folder_ / "launches" / name;
  request.full_check = full;
  const std::int64_t run_steps = round < 0 ? 0 : state.warmup_steps + state.timed_steps;
  const CheckedSteps checked =
      ChooseCheckedSteps(plan_.seed, state.configuration, round, full, run_steps);
  request.replayed_steps = checked.replayed;
  request.state_steps = checked.state;
  request.middle_step = checked.middle;
  if (round >= 0) {
    request.warmup_steps = state.warmup_steps;
    request.timed_steps = state.timed_steps;
    const double expected = state.step_seconds * static_cast<double>(run_steps);
    const auto most = std::chrono::milliseconds(std::llround(1e4 * expected));
    request.limits.run = std::chrono::seconds(60) + most;
    request.limits.verify += most;
  }
  request.limits.memory_bytes = plan_.memory_limit_bytes;
  LaunchPlace place;
  place.campaign = campaign_;
  place.configuration = state.configuration;
  place.round = round;
  place.position = position;
  place.folder = request.folder.lexically_relative(context_.results_folder).string();
  place.started = context_.clock->CalendarLabel();
  place.warmup_steps = state.warmup_steps;

  DLBENCH_RETURN_IF_ERROR(store_.BeginLaunch(campaign_, state.configuration, round));
  seen = context_.launcher->Launch(request);
  if (seen.failure && seen.failure->kind == worker::FailureKind::kInterrupted) {
    Clean(request.folder);
    DLBENCH_ASSIGN_OR_RETURN(const std::int64_t torn, store_.TakeIncomplete());
    (void)torn;
    return std::optional<Judgement>();
  }
  Judgement judgement = JudgeLaunch(*state.gate, seen, DepthsOf(request));
  if (!context_.keep) Clean(request.folder);
  if (seen.prepared && round < 0) {
    const Status set =
        store_.SetEffectiveSettings(state.configuration, seen.prepared->effective_settings);
    // A resumed campaign keeps what was read back first (a compile cache may be warm by now).
    if (!set.ok() && set.error().code() != ErrorCode::kFailed) return set.error();
  }
  std::optional<store::VerificationRow> verification;
  if (judgement.gate)
    verification = store::VerificationRow{0, full ? "full" : "light", *judgement.gate};
  const auto stored = store_.AddLaunch(LaunchRowOf(place, seen, judgement), verification);
  if (!stored.ok()) return stored.error();
  return std::optional(std::move(judgement));
}

void Runner::Clean(const std::filesystem::path& folder) const {
  // The framework's output stays; its tensors are large and have been compared.
  std::error_code ignored;
  for (const char* name : {"verify-before", "verify-after", "state-run", "state-verify",
                           "state-before", "state-after", "state-again"}) {
    std::filesystem::remove_all(folder / name, ignored);
  }
}

}  // namespace

Result<std::int64_t> RunCampaign(Plan plan, const CampaignContext& context, store::Store& store) {
  if (plan.memory_limit_bytes == 0) {
    const std::uint64_t all = std::min(context.machine.memory_bytes,
                                       context.machine.cgroup_memory_bytes.value_or(UINT64_MAX));
    plan.memory_limit_bytes = all / 10 * 9;
  }
  return Runner(std::move(plan), context, store).Run();
}

}  // namespace dlbench::experiment
