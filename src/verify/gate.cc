#include "verify/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "data/safetensors.h"
#include "verify/compare.h"
#include "verify/gate_data.h"
#include "verify/reference_files.h"
#include "verify/replay.h"

namespace dlbench::verify {
namespace {

std::string Describe(const Check& check) {
  std::string what;
  switch (check.quantity) {
    case Quantity::kLogits:
      what = "the logits differ";
      break;
    case Quantity::kLoss:
      what = fmt::format("the loss of step {}{} differs", check.steps,
                         check.moment == "run"      ? " after the run"
                         : check.moment == "middle" ? " from the middle on"
                                                    : "");
      break;
    case Quantity::kGradient:
      what = fmt::format("the gradient of '{}' differs", check.tensor);
      break;
    case Quantity::kUpdate:
      what = fmt::format("the update of '{}' after {} step{} differs", check.tensor, check.steps,
                         check.steps == 1 ? "" : "s");
      break;
    case Quantity::kRunLoss:
      what = fmt::format("the loss of step {} of the run differs", check.steps);
      break;
    case Quantity::kRunUpdate:
      what =
          fmt::format("the update of '{}' in {}{} {} differs", check.tensor,
                      check.moment == "run" ? "the " : "",
                      check.steps == 1 ? std::string("step") : fmt::format("{} steps", check.steps),
                      check.moment == "run" ? "after the run" : "amid as many as were timed");
      break;
    case Quantity::kRunState:
      what = fmt::format("'{}' after a run of {} steps differs", check.tensor, check.steps);
      break;
  }
  if (!check.error.finite) return what + ": it holds values that are not finite";
  return fmt::format(
      "{} from {}: relative error {:.2e} (limit {:.2e}), worst element {:.2e} (limit "
      "{:.2e}), {}",
      what,
      check.quantity == Quantity::kRunState ? "what the same steps give in verify"
                                            : "the reference",
      check.error.norm_relative, check.norm_limit, check.error.worst_over_rms, check.worst_limit,
      check.moment == "run" || check.moment == "middle" ? "during the run"
                                                        : check.moment + " the timing");
}

/// Whether the logits of the first step were as wrong after the run as before it.
bool Repeatable(const std::vector<Check>& checks) {
  double before = 0.0;
  double after = 0.0;
  for (const Check& check : checks) {
    if (check.quantity != Quantity::kLogits || check.passed || !check.error.finite) continue;
    (check.moment == "before" ? before : after) = check.error.norm_relative;
  }
  // Threads may sum in another order: that moves an error by far less than a part in a thousand.
  return before == 0.0 || after == 0.0 || std::abs(before - after) < 1e-3 * before;
}

class ReferenceGate final : public Gate {
 public:
  explicit ReferenceGate(GateData data) : data_(std::move(data)) {}

  const Sequence& sequence() const override { return data_.sequence; }
  Result<std::vector<Check>> CheckAnswers(const Answers& answers, Depth depth,
                                          const std::string& moment) const override;
  std::vector<Check> CheckRunLosses(
      std::span<const std::pair<std::int64_t, double>> losses) const override;
  Result<std::vector<Check>> CheckRunState(const StateFiles& files) const override;
  Result<std::vector<Check>> CheckStep(const StepFiles& files,
                                       const std::string& moment) const override;
  GateResult Judge(std::vector<Check> checks, const Answers* answers,
                   const StepFiles* step) const override;
  Status WriteReference(const std::filesystem::path& folder) const override {
    return WriteReferenceFiles(data_, folder);
  }

 private:
  Status CheckGradients(const Answers& answers, const std::string& moment,
                        std::vector<Check>& checks) const;
  Status CheckUpdates(const Answers& answers, const std::string& moment,
                      std::vector<Check>& checks) const;
  void CheckLoss(const Answers& answers, std::size_t index, const std::string& moment,
                 std::vector<Check>& checks) const;

  GateData data_;
};

void ReferenceGate::CheckLoss(const Answers& answers, std::size_t index, const std::string& moment,
                              std::vector<Check>& checks) const {
  const ErrorFigures error =
      Compare(std::span(&answers.losses[index], 1), std::span(&data_.reference.losses[index], 1));
  checks.push_back(
      data_.limits.Judge(Quantity::kLoss, "", moment, static_cast<std::int64_t>(index) + 1, error));
}

Status ReferenceGate::CheckGradients(const Answers& answers, const std::string& moment,
                                     std::vector<Check>& checks) const {
  const network::Network& network = data_.network();
  if (answers.gradients) {
    DLBENCH_ASSIGN_OR_RETURN(const auto gradients,
                             LoadParameters(network, *answers.gradients, "gradients"));
    for (const network::Parameter* parameter : network.Parameters()) {
      const ErrorFigures error = Compare(std::span<const float>(gradients.at(parameter->name)),
                                         data_.reference.gradients.at(parameter->name));
      checks.push_back(data_.limits.Judge(Quantity::kGradient, parameter->name, moment, 1, error));
    }
    return {};
  }
  const auto found = answers.weights.find(1);
  if (found == answers.weights.end()) {
    return Error(ErrorCode::kFailed,
                 "neither gradients nor weights after one step were handed out");
  }
  DLBENCH_ASSIGN_OR_RETURN(const auto after, LoadParameters(network, found->second, "weights"));
  for (const network::Parameter* parameter : network.Parameters()) {
    const std::string& name = parameter->name;
    const std::vector<double> end(after.at(name).begin(), after.at(name).end());
    const std::vector<double> derived =
        DerivedGradient(network.optimizer, parameter->decays, data_.sequence.learning_rates.front(),
                        data_.start.weights.at(name), end);
    checks.push_back(data_.limits.Judge(
        Quantity::kGradient, name, moment, 0,
        Compare(std::span<const double>(derived), data_.reference.gradients.at(name))));
  }
  return {};
}

Status ReferenceGate::CheckUpdates(const Answers& answers, const std::string& moment,
                                   std::vector<Check>& checks) const {
  for (const std::int64_t steps : {std::int64_t{1}, kSteps}) {
    const auto found = answers.weights.find(steps);
    if (found == answers.weights.end()) {
      return Error(ErrorCode::kFailed,
                   fmt::format("the weights after {} steps were not handed out", steps));
    }
    DLBENCH_ASSIGN_OR_RETURN(const auto weights,
                             LoadParameters(data_.network(), found->second, "weights"));
    for (const network::Parameter* parameter : data_.network().Parameters()) {
      const std::string& name = parameter->name;
      const ErrorFigures error =
          CompareChange(std::span<const float>(data_.gate_case.weights->at(name)), weights.at(name),
                        data_.start.weights.at(name), data_.reference.weights.at(steps).at(name));
      checks.push_back(data_.limits.Judge(Quantity::kUpdate, name, moment, steps, error));
    }
    const std::int64_t batch = data_.gate_case.pool->batch;
    DLBENCH_ASSIGN_OR_RETURN(const auto buffers,
                             LoadBuffers(data_.network(), batch, found->second, "weights"));
    const auto initial = InitialBuffers(data_.network(), batch);
    for (const auto& [name, values] : buffers) {
      const ErrorFigures error = CompareChange(std::span<const float>(initial.at(name)), values,
                                               data_.reference.buffers.at(0).at(name),
                                               data_.reference.buffers.at(steps).at(name));
      checks.push_back(data_.limits.Judge(Quantity::kUpdate, name, moment, steps, error));
    }
  }
  return {};
}

Result<std::vector<Check>> ReferenceGate::CheckAnswers(const Answers& answers, Depth depth,
                                                       const std::string& moment) const {
  if (answers.losses.size() != data_.sequence.batches.size()) {
    return Error(ErrorCode::kFailed,
                 fmt::format("{} losses were answered for {} steps", answers.losses.size(),
                             data_.sequence.batches.size()));
  }
  if (!answers.logits) return Error(ErrorCode::kFailed, "no logits were handed out");
  DLBENCH_ASSIGN_OR_RETURN(
      const auto logits, LoadLogits(data_.network(), data_.gate_case.pool->batch, *answers.logits));
  std::vector<Check> checks;
  checks.push_back(
      data_.limits.Judge(Quantity::kLogits, "", moment, 1,
                         Compare(std::span<const float>(logits), data_.reference.logits)));
  CheckLoss(answers, 0, moment, checks);
  if (depth == Depth::kFull) {
    DLBENCH_RETURN_IF_ERROR(CheckGradients(answers, moment, checks));
    DLBENCH_RETURN_IF_ERROR(CheckUpdates(answers, moment, checks));
  }
  for (std::size_t i = 1; i < answers.losses.size(); ++i) CheckLoss(answers, i, moment, checks);
  return checks;
}

std::vector<Check> ReferenceGate::CheckRunLosses(
    std::span<const std::pair<std::int64_t, double>> losses) const {
  std::vector<Check> checks;
  bool moves = losses.size() < 2;
  for (const auto& [step, loss] : losses) {
    moves = moves || loss != losses.front().second;
    if (step > kRunSteps && std::isfinite(loss)) continue;
    const double expected =
        step <= kRunSteps ? data_.run_reference.losses[static_cast<std::size_t>(step - 1)] : loss;
    checks.push_back(data_.limits.Judge(Quantity::kRunLoss, "", "run", step,
                                        Compare(std::span(&loss, 1), std::span(&expected, 1))));
  }
  if (!moves) {
    Check still;
    still.quantity = Quantity::kRunLoss;
    still.moment = "run";
    still.steps = losses.back().first;
    still.error.norm_relative = 1.0;
    still.passed = false;
    checks.push_back(still);
  }
  return checks;
}

Result<std::vector<Check>> ReferenceGate::CheckRunState(const StateFiles& files) const {
  const network::Network& network = data_.network();
  DLBENCH_ASSIGN_OR_RETURN(const auto run,
                           LoadParameters(network, files.after_run, "weights after the run"));
  DLBENCH_ASSIGN_OR_RETURN(const auto verified,
                           LoadParameters(network, files.after_verify, "weights after verify"));
  std::map<std::string, std::vector<float>> second;
  if (files.after_second_run) {
    DLBENCH_ASSIGN_OR_RETURN(
        second, LoadParameters(network, *files.after_second_run, "weights after the second run"));
  }
  const auto error_against = [&](const std::map<std::string, std::vector<float>>& other,
                                 const std::string& name) {
    const std::vector<double> expected(other.at(name).begin(), other.at(name).end());
    return CompareChange(std::span<const float>(data_.gate_case.weights->at(name)), run.at(name),
                         std::span<const double>(data_.start.weights.at(name)),
                         std::span<const double>(expected));
  };
  std::vector<Check> checks;
  for (const network::Parameter* parameter : network.Parameters()) {
    const std::string& name = parameter->name;
    // Threads may add in another order each time, and errors grow with the steps.
    Limits limits = data_.limits;
    if (!second.empty()) {
      limits.Observe(Quantity::kRunState, name, kRunSteps, error_against(second, name));
    }
    Check check =
        limits.Judge(Quantity::kRunState, name, "run", kRunSteps, error_against(verified, name));
    check.steps = files.steps;
    checks.push_back(check);
  }
  return checks;
}

Result<std::vector<Check>> ReferenceGate::CheckStep(const StepFiles& files,
                                                    const std::string& moment) const {
  DLBENCH_ASSIGN_OR_RETURN(const Replay replay, ReplaySteps(data_, files));
  std::vector<Check> checks;
  for (const network::Parameter* parameter : data_.network().Parameters()) {
    const std::string& name = parameter->name;
    checks.push_back(replay.limits.Judge(Quantity::kRunUpdate, name, moment, files.steps,
                                         ChangeError(replay, name, replay.right, files.steps)));
  }
  for (const auto& [name, after] : replay.buffers_after) {
    const ErrorFigures error = CompareChange(std::span<const float>(replay.buffers_before.at(name)),
                                             after, replay.right.buffers.at(0).at(name),
                                             replay.right.buffers.at(files.steps).at(name));
    checks.push_back(replay.limits.Judge(Quantity::kRunUpdate, name, moment, files.steps, error));
  }
  for (const auto& [step, loss] : files.losses) {
    const double expected = replay.right.losses.at(static_cast<std::size_t>(step - 1));
    checks.push_back(replay.limits.Judge(Quantity::kLoss, "", moment, step,
                                         Compare(std::span(&loss, 1), std::span(&expected, 1))));
  }
  return checks;
}

GateResult ReferenceGate::Judge(std::vector<Check> checks, const Answers* answers,
                                const StepFiles* step) const {
  GateResult result;
  result.steps = kSteps;
  result.checks = std::move(checks);
  result.blind_spots = data_.blind_spots;
  const auto failed = std::find_if(result.checks.begin(), result.checks.end(),
                                   [](const Check& check) { return !check.passed; });
  if (failed != result.checks.end()) {
    result.status = GateStatus::kUnequal;
    result.reason = Describe(*failed);
    result.diagnosis = Diagnose(data_, *failed, answers, step);
    if (result.diagnosis.empty() && !Repeatable(result.checks)) {
      result.diagnosis = "the first step gives other logits each time (dropout?)";
    }
  } else if (!data_.mistrust.empty()) {
    result.status = GateStatus::kMistrusted;
    result.reason = "the check could not have failed: " + data_.mistrust.front();
  }
  return result;
}

}  // namespace

bool VelocityFollows(const network::Optimizer& optimizer) {
  return optimizer.momentum == 0.0 || !optimizer.nesterov;
}

Result<std::unique_ptr<Gate>> Gate::Create(const GateCase& gate_case) {
  DLBENCH_ASSIGN_OR_RETURN(GateData data, MeasureCase(gate_case));
  return std::unique_ptr<Gate>(std::make_unique<ReferenceGate>(std::move(data)));
}

}  // namespace dlbench::verify
