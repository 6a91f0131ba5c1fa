#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "verify/compare.h"
#include "verify/gate_data.h"

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
                     {false, {0, Gate::kRunSteps}, false},
                     {reference::Precision::kFloat32, order}));
    ObserveLosses(observed, data.run_reference, Quantity::kRunLoss, data.limits);
    ObserveChange(observed, data.run_reference, Gate::kRunSteps, Quantity::kRunState, data.limits);
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
      auto engine, reference::Engine::Create(data.network(),
                                             static_cast<std::int64_t>(situation.samples()), {}));
  engine->SetWeights(*situation.weights);
  reference::Masks masks;
  for (const auto& [node, mask] : situation.masks) masks[node] = mask;
  engine->SetMasks(masks);
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

}  // namespace

Result<GateData> MeasureCase(const GateCase& gate_case) {
  constexpr std::int64_t kSteps = Gate::kSteps;
  GateData data;
  data.gate_case = gate_case;
  data.start = reference::StateFrom(*gate_case.weights);
  data.sequence = VerifySequence(gate_case);
  DLBENCH_ASSIGN_OR_RETURN(data.reference,
                           RunReference(data.network(), data.start, *gate_case.pool, data.sequence,
                                        {true, {0, 1, kSteps}, true}, {}));
  DLBENCH_ASSIGN_OR_RETURN(
      data.run_reference,
      RunReference(data.network(), data.start, *gate_case.pool, RunSequence(gate_case),
                   {false, {0, Gate::kRunSteps}, false}, {}));
  DLBENCH_RETURN_IF_ERROR(MeasureLimits(data));
  data.run_reference.weights.clear();  // Only the limits needed them.
  DLBENCH_ASSIGN_OR_RETURN(data.mistrust, FindMistrust(data));
  DLBENCH_ASSIGN_OR_RETURN(data.blind_spots, FindBlindSpots(data));
  return data;
}

}  // namespace dlbench::verify
