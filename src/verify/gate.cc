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

namespace dlbench::verify {
namespace {

/// Summation orders of the float32 runs from which limits are measured. Four orders: with three the
/// largest of their errors still moved by a third from one network to the next.
constexpr int kOrders = 4;
/// Outputs so near their bounds have no usable gradient.
constexpr double kSaturated = 0.99;

Sequence VerifySequence(const GateCase& gate_case) {
  const double rate = gate_case.network->optimizer.learning_rate;
  Sequence sequence;
  for (std::int64_t i = 0; i < Gate::kSteps; ++i) {
    sequence.batches.push_back(i % gate_case.pool->count);
    const bool halved = gate_case.rate_changes && i >= Gate::kSteps - 2;
    sequence.learning_rates.push_back(halved ? rate / 2 : rate);
  }
  return sequence;
}

Sequence RunSequence(const GateCase& gate_case) {
  Sequence sequence;
  for (std::int64_t i = 0; i < Gate::kRunSteps; ++i) {
    sequence.batches.push_back(i % gate_case.pool->count);
    sequence.learning_rates.push_back(gate_case.network->optimizer.learning_rate);
  }
  return sequence;
}

/// Natural error of the gradient that is derived from the first update, under steps = 0.
void ObserveDerivedGradients(const GateData& data, const Trajectory& observed, Limits& limits) {
  for (const network::Parameter* parameter : data.network().Parameters()) {
    const std::string& name = parameter->name;
    const std::vector<double> derived = DerivedGradient(
        data.network().optimizer, parameter->decays, data.sequence.learning_rates.front(),
        observed.weights.at(0).at(name), observed.weights.at(1).at(name));
    limits.Observe(Quantity::kGradient, name, 0,
                   Compare(std::span<const double>(derived), data.reference.gradients.at(name)));
  }
}

Status MeasureLimits(GateData& data) {
  const GateCase& gate_case = data.gate_case;
  const Keep keep{true, {0, 1, Gate::kSteps}, false};
  for (int order = 0; order < kOrders; ++order) {
    DLBENCH_ASSIGN_OR_RETURN(
        const Trajectory observed,
        RunReference(data.network(), data.start, *gate_case.pool, data.sequence, keep,
                     {reference::Precision::kFloat32, order}));
    ObserveTrajectory(observed, data.reference, data.limits);
    ObserveDerivedGradients(data, observed, data.limits);
  }
  for (int order = 0; order < 2; ++order) {
    DLBENCH_ASSIGN_OR_RETURN(
        const Trajectory observed,
        RunReference(data.network(), data.start, *gate_case.pool, RunSequence(gate_case),
                     {false, {}, false}, {reference::Precision::kFloat32, order}));
    for (std::size_t i = 0; i < observed.losses.size(); ++i) {
      data.limits.Observe(
          Quantity::kRunLoss, "", static_cast<std::int64_t>(i) + 1,
          Compare(std::span(&observed.losses[i], 1), std::span(&data.run_reference.losses[i], 1)));
    }
  }
  return {};
}

/// Fraction of a node's outputs from which no gradient comes back.
double UnusableFraction(const std::string& op, const std::vector<double>& outputs) {
  const auto unusable = std::count_if(outputs.begin(), outputs.end(), [&](double value) {
    if (op == "relu") return value <= 0.0;
    if (op == "sigmoid") return std::abs(2.0 * value - 1.0) > kSaturated;
    return op == "tanh" && std::abs(value) > kSaturated;
  });
  return static_cast<double>(unusable) / static_cast<double>(outputs.size());
}

/// Why this gate could not have failed, if so.
Result<std::vector<std::string>> FindMistrust(const GateData& data) {
  std::vector<std::string> reasons;
  const Limit logits = data.limits.Of(Quantity::kLogits, "", 1);
  if (logits.norm > kDecidable)
    reasons.push_back(fmt::format("the limit on logits is {:.1e}", logits.norm));
  for (const network::Parameter* parameter : data.network().Parameters()) {
    const std::vector<double>& gradient = data.reference.gradients.at(parameter->name);
    const bool zero =
        std::all_of(gradient.begin(), gradient.end(), [](double g) { return g == 0.0; });
    if (zero) reasons.push_back("the gradient of '" + parameter->name + "' is zero");
    const Limit limit = data.limits.Of(Quantity::kGradient, parameter->name, 1);
    if (limit.norm > kDecidable) {
      reasons.push_back(
          fmt::format("the limit on the gradient of '{}' is {:.1e}", parameter->name, limit.norm));
    }
  }
  const Situation situation = FirstSituation(data, 16);
  DLBENCH_ASSIGN_OR_RETURN(
      auto engine, reference::Engine::Create(
                       data.network(), static_cast<std::int64_t>(situation.labels.size()), {}));
  engine->SetState(situation.state);
  const auto pass = engine->Forward(situation.x, situation.labels, true);
  for (const network::Node& node : data.network().nodes) {
    const auto found = pass.activations.find(node.name);
    if (found == pass.activations.end() || found->second.empty()) continue;
    const double unusable = UnusableFraction(node.op, found->second);
    if (unusable > 0.95) {
      reasons.push_back(fmt::format("{:.0f} % of the outputs of '{}' are saturated or dead",
                                    100.0 * unusable, node.name));
    }
  }
  return reasons;
}

std::string Describe(const Check& check) {
  std::string what;
  switch (check.quantity) {
    case Quantity::kLogits:
      what = "the logits differ";
      break;
    case Quantity::kLoss:
      what = fmt::format("the loss of step {} differs", check.steps);
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
      what = fmt::format("the update of '{}' in the step after the run differs", check.tensor);
      break;
  }
  if (!check.error.finite) return what + ": it holds values that are not finite";
  return fmt::format(
      "{} from the reference: relative error {:.2e} (limit {:.2e}), worst element {:.2e} (limit "
      "{:.2e}), {}",
      what, check.error.norm_relative, check.norm_limit, check.error.worst_over_rms,
      check.worst_limit, check.moment == "run" ? "during the run" : check.moment + " the timing");
}

class ReferenceGate final : public Gate {
 public:
  explicit ReferenceGate(GateData data) : data_(std::move(data)) {}

  const Sequence& sequence() const override { return data_.sequence; }
  Result<std::vector<Check>> CheckAnswers(const Answers& answers, Depth depth,
                                          const std::string& moment) const override;
  std::vector<Check> CheckRunLosses(
      std::span<const std::pair<std::int64_t, double>> losses) const override;
  Result<std::vector<Check>> CheckStep(const StepFiles& files) const override;
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

Result<std::vector<Check>> ReferenceGate::CheckStep(const StepFiles& files) const {
  const network::Network& network = data_.network();
  const data::BatchPool& pool = *data_.gate_case.pool;
  DLBENCH_ASSIGN_OR_RETURN(
      const auto before, LoadParameters(network, files.weights_before, "weights before the step"));
  DLBENCH_ASSIGN_OR_RETURN(const auto after,
                           LoadParameters(network, files.weights_after, "weights after the step"));
  reference::State start = reference::StateFrom(before);
  if (files.velocity_before) {
    DLBENCH_ASSIGN_OR_RETURN(const auto velocity, LoadParameters(network, *files.velocity_before,
                                                                 "velocity before the step"));
    start.velocity = reference::StateFrom(velocity).weights;
  } else if (network.optimizer.momentum != 0.0) {
    return Error(ErrorCode::kFailed, "the velocity was not handed out although there is momentum");
  }
  const Sequence sequence{{files.batch}, {network.optimizer.learning_rate}};
  const Keep keep{true, {0, 1}, false};
  DLBENCH_ASSIGN_OR_RETURN(const Trajectory right,
                           RunReference(network, start, pool, sequence, keep, {}));
  Limits limits;
  for (int order = 0; order < 2; ++order) {
    DLBENCH_ASSIGN_OR_RETURN(const Trajectory natural,
                             RunReference(network, start, pool, sequence, keep,
                                          {reference::Precision::kFloat32, order}));
    ObserveTrajectory(natural, right, limits);
    for (const auto& [name, end] : right.weights.at(1)) {
      limits.Observe(
          Quantity::kRunUpdate, name, 1,
          CompareChange(std::span<const double>(natural.weights.at(0).at(name)),
                        natural.weights.at(1).at(name), right.weights.at(0).at(name), end));
    }
  }
  std::vector<Check> checks;
  checks.push_back(
      limits.Judge(Quantity::kLoss, "", "run", 1,
                   Compare(std::span(&files.loss, 1), std::span(&right.losses[0], 1))));
  for (const network::Parameter* parameter : network.Parameters()) {
    const std::string& name = parameter->name;
    const ErrorFigures error =
        CompareChange(std::span<const float>(before.at(name)), after.at(name),
                      start.weights.at(name), right.weights.at(1).at(name));
    checks.push_back(limits.Judge(Quantity::kRunUpdate, name, "run", 1, error));
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
  } else if (!data_.mistrust.empty()) {
    result.status = GateStatus::kMistrusted;
    result.reason = "the check could not have failed: " + data_.mistrust.front();
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<Gate>> Gate::Create(const GateCase& gate_case) {
  GateData data;
  data.gate_case = gate_case;
  data.start = reference::StateFrom(*gate_case.weights);
  data.sequence = VerifySequence(gate_case);
  DLBENCH_ASSIGN_OR_RETURN(data.reference,
                           RunReference(data.network(), data.start, *gate_case.pool, data.sequence,
                                        {true, {0, 1, kSteps}, true}, {}));
  DLBENCH_ASSIGN_OR_RETURN(data.run_reference,
                           RunReference(data.network(), data.start, *gate_case.pool,
                                        RunSequence(gate_case), {false, {}, false}, {}));
  DLBENCH_RETURN_IF_ERROR(MeasureLimits(data));
  DLBENCH_ASSIGN_OR_RETURN(data.mistrust, FindMistrust(data));
  DLBENCH_ASSIGN_OR_RETURN(data.blind_spots, FindBlindSpots(data));
  return std::unique_ptr<Gate>(std::make_unique<ReferenceGate>(std::move(data)));
}

}  // namespace dlbench::verify
