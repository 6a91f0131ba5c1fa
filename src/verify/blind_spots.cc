#include <algorithm>
#include <cmath>

#include "network/cost.h"
#include "verify/compare.h"
#include "verify/gate_data.h"
#include "verify/update_rules.h"

namespace dlbench::verify {
namespace {

/// Faults of one pass show at 16 samples as they do at the whole batch, for a fraction of the cost;
/// at two where the network is large.
constexpr std::int64_t kMostSamples = 16;
constexpr std::int64_t kLeastSamples = 2;
/// Multiply-adds of all passes together: about a minute.
constexpr double kWork = 2e12;

std::int64_t SamplesFor(const network::Network& network, std::size_t passes) {
  const double each = 3.0 * static_cast<double>(network::ForwardMultiplyAdds(network)) *
                      static_cast<double>(passes);
  return std::clamp(static_cast<std::int64_t>(std::min(kWork / std::max(each, 1.0), 1e6)),
                    kLeastSamples, kMostSamples);
}

bool Exceeds(const ErrorFigures& error, const Limit& limit) {
  return !error.finite || error.norm_relative > limit.norm || error.worst_over_rms > limit.worst;
}

/// Whether a pass that computed `wrong` instead of `right` would fail a check.
bool Shows(const reference::StepResult& wrong, const reference::StepResult& right,
           const Limits& limits) {
  if (wrong.logits.size() == right.logits.size() &&
      Exceeds(Compare(std::span<const double>(wrong.logits), right.logits),
              limits.Of(Quantity::kLogits, "", 1))) {
    return true;
  }
  if (Exceeds(Compare(std::span(&wrong.loss, 1), std::span(&right.loss, 1)),
              limits.Of(Quantity::kLoss, "", 1))) {
    return true;
  }
  return std::any_of(right.gradients.begin(), right.gradients.end(), [&](const auto& entry) {
    const auto& [name, gradient] = entry;
    return Exceeds(Compare(std::span<const double>(wrong.gradients.at(name)), gradient),
                   limits.Of(Quantity::kGradient, name, 1));
  });
}

/// Global norm of the sampled gradients of one step.
double Norm(const Tensors& gradients) {
  double squares = 0.0;
  for (const auto& [name, values] : gradients) {
    for (const double value : values) squares += value * value;
  }
  return std::sqrt(squares);
}

/// Replays `rule` on the sampled elements along the reference's own gradients (exact for the first
/// step, to first order afterwards) and returns the final weights of `parameter`'s sample.
std::vector<double> Replay(const GateData& data, const UpdateRule& rule,
                           const network::Parameter& parameter, std::vector<double> weights) {
  std::vector<double> velocity(weights.size(), 0.0);
  const auto& tape = data.reference.sampled_gradients;
  for (std::size_t i = 0; i < tape.size(); ++i) {
    const Tensors& gradients = tape[rule.stale_batch && i > 0 ? i - 1 : i];
    Advance(rule, data.network().optimizer, parameter.decays, i, data.sequence.learning_rates[i],
            data.sequence.learning_rates[0], Norm(gradients), gradients.at(parameter.name), weights,
            velocity);
  }
  return weights;
}

bool UpdateShows(const GateData& data, const UpdateRule& rule) {
  const auto steps = static_cast<std::int64_t>(data.sequence.batches.size());
  for (const network::Parameter* parameter : data.network().Parameters()) {
    const Limit limit = data.limits.Of(Quantity::kUpdate, parameter->name, steps);
    if (limit.norm > kDecidable) continue;
    const std::vector<double>& all = data.start.weights.at(parameter->name);
    std::vector<double> start;
    for (const std::size_t index : SampleIndices(all.size())) start.push_back(all[index]);
    const std::vector<double> right = Replay(data, UpdateRule{}, *parameter, start);
    const std::vector<double> wrong = Replay(data, rule, *parameter, start);
    if (Exceeds(CompareChange(std::span<const double>(start), wrong, start, right), limit)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<std::vector<std::string>> FindBlindSpots(const GateData& data) {
  std::vector<std::string> blind;
  const std::int64_t other = data.sequence.batches.size() > 1 ? data.sequence.batches[1] : 0;
  const auto faults = KnownForwardFaults(data.network(), BatchInputs(*data.gate_case.pool, other),
                                         BatchLabels(*data.gate_case.pool, other));
  const Situation situation = FirstSituation(data, SamplesFor(data.network(), faults.size()));
  Evaluator evaluator;
  DLBENCH_ASSIGN_OR_RETURN(const reference::StepResult right, evaluator.Evaluate(situation));
  for (const ForwardFault& fault : faults) {
    const std::optional<Situation> changed = fault.apply(situation);
    if (!changed) continue;
    DLBENCH_ASSIGN_OR_RETURN(const reference::StepResult wrong, evaluator.Evaluate(*changed));
    if (!Shows(wrong, right, data.limits)) blind.push_back(fault.cause);
  }
  for (const LossFault& fault : KnownLossFaults()) {
    const double loss =
        fault.loss(right.logits, situation.labels, data.network().classes, right.loss);
    if (!Exceeds(Compare(std::span(&loss, 1), std::span(&right.loss, 1)),
                 data.limits.Of(Quantity::kLoss, "", 1))) {
      blind.push_back(fault.cause);
    }
  }
  const std::pair<reference::Precision, const char*> lowered[] = {
      {reference::Precision::kBFloat16Operands, "products are computed in bfloat16"},
      {reference::Precision::kTF32Operands, "products are computed in TF32"}};
  for (const auto& [precision, cause] : lowered) {
    DLBENCH_ASSIGN_OR_RETURN(const reference::StepResult wrong,
                             evaluator.Evaluate(situation, {precision, 0}));
    if (!Shows(wrong, right, data.limits)) blind.push_back(cause);
  }
  for (const UpdateRule& rule : KnownUpdateFaults(data.network())) {
    // Without a change of rate two rules can be the same by design: that is not a blind spot of
    // ours to hide.
    if (!UpdateShows(data, rule)) blind.push_back(rule.cause);
  }
  return blind;
}

}  // namespace dlbench::verify
