#include "gate_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/clock.h"
#include "experiment/schedule.h"
#include "network/parse.h"

namespace dlbench::decoys {

using experiment::Judgement;

Caught FirstObjection(const Judgement& judgement) {
  Caught caught;
  if (judgement.failure) {
    caught.check = worker::ToString(judgement.failure->kind);
    caught.reason = judgement.failure->message;
    return caught;
  }
  const verify::GateResult& gate = *judgement.gate;
  if (gate.status == verify::GateStatus::kEqual) return caught;
  caught.check = verify::ToString(gate.status);
  caught.reason = gate.reason;
  caught.diagnosis = gate.diagnosis;
  const auto failed = std::find_if(gate.checks.begin(), gate.checks.end(),
                                   [](const verify::Check& check) { return !check.passed; });
  if (failed != gate.checks.end()) {
    caught.check = verify::ToString(failed->quantity);
    caught.moment = failed->moment;
  }
  return caught;
}

Result<std::unique_ptr<GateRun>> GateRun::Make(const std::filesystem::path& network_file,
                                               std::int64_t batch, std::uint64_t seed,
                                               std::filesystem::path folder) {
  std::unique_ptr<GateRun> made(new GateRun(std::move(folder)));
  DLBENCH_ASSIGN_OR_RETURN(const network::Network network, network::LoadNetwork(network_file));
  data::DataRequest request;
  request.kind = "synthetic";
  request.seed = seed;
  DLBENCH_ASSIGN_OR_RETURN(const data::Dataset dataset, data::LoadDataset(request, network));
  DLBENCH_ASSIGN_OR_RETURN(made->case_, experiment::Case::Make(network, dataset, batch, seed));
  DLBENCH_RETURN_IF_ERROR(made->case_->Write(made->folder_ / "inputs"));
  return made;
}

frameworks::Installation GateRun::Adapter(std::vector<std::string> argv,
                                          std::map<std::string, std::string> environment) {
  frameworks::Installation installation;
  installation.id = installation.name = "tested";
  installation.argv = std::move(argv);
  installation.environment = std::move(environment);
  return installation;
}

Judgement GateRun::Launch(const frameworks::Installation& installation,
                          const LaunchOptions& options) {
  experiment::Arm arm;
  arm.installation = installation;
  arm.preset = options.preset;
  arm.network = case_->network().name;
  arm.batch = case_->batch();
  arm.threads = options.threads;
  arm.mode = "train";
  arm.device = "cpu";
  arm.precision = "float32";
  arm.input = "resident";
  const auto gate = case_->GateFor(true);
  if (!gate.ok()) {
    worker::Failure failure;
    failure.message = gate.error().message();
    return {failure, std::nullopt};
  }
  experiment::LaunchRequest request;
  request.arm = &arm;
  request.network = &case_->network();
  request.sequence = &(*gate)->sequence();
  request.weights = case_->weights_path();
  request.batches = case_->batches_path();
  request.pool = case_->pool();
  request.folder = folder_ / fmt::format("launch-{}", launches_++);
  request.full_check = true;
  if (options.timed) {
    request.warmup_steps = options.warmup_steps;
    request.timed_steps = options.timed_steps;
  }
  const auto checked =
      experiment::ChooseCheckedSteps(options.seed, 0, options.timed ? 0 : -1, request.full_check,
                                     request.warmup_steps + request.timed_steps);
  request.replayed_steps = checked.replayed;
  request.state_steps = checked.state;
  request.middle_step = checked.middle;
  SystemClock clock;
  experiment::ProcessLauncher launcher(clock, nullptr, folder_ / "cache");
  auto judgement =
      experiment::JudgeLaunch(**gate, launcher.Launch(request), experiment::DepthsOf(request));
  std::error_code ignored;
  std::filesystem::remove_all(request.folder, ignored);
  return judgement;
}

Caught GateRun::Catch(const frameworks::Installation& installation, int tries) {
  Caught caught;
  for (int i = 0; i < tries && caught.check.empty(); ++i) {
    LaunchOptions options;
    options.seed = static_cast<std::uint64_t>(i) + 1;
    caught = FirstObjection(Launch(installation, options));
    if (!caught.check.empty()) break;
    options.timed = true;
    caught = FirstObjection(Launch(installation, options));
  }
  return caught;
}

}  // namespace dlbench::decoys
