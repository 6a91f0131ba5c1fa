#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "verify/compare.h"
#include "verify/gate_data.h"
#include "verify/update_rules.h"

namespace dlbench::verify {
namespace {

using Floats = std::map<std::string, std::vector<float>>;

std::vector<double> Widen(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

bool Within(const ErrorFigures& error, const Limit& limit) {
  return error.finite && error.norm_relative <= limit.norm && error.worst_over_rms <= limit.worst;
}

std::vector<ForwardFault> ForwardFaults(const GateData& data) {
  const std::int64_t other = data.sequence.batches.size() > 1 ? data.sequence.batches[1] : 0;
  return KnownForwardFaults(data.network(), BatchInputs(*data.gate_case.pool, other),
                            BatchLabels(*data.gate_case.pool, other));
}

/// Runs every forward fault and returns the cause of the first whose result `fits`.
std::string FirstFitting(const GateData& data,
                         const std::function<bool(const reference::StepResult&)>& fits) {
  const Situation situation = FirstSituation(data, data.gate_case.pool->batch);
  for (const ForwardFault& fault : ForwardFaults(data)) {
    const std::optional<Situation> changed = fault.apply(situation);
    if (!changed) continue;
    const auto wrong = Evaluate(*changed);
    if (wrong.ok() && fits(*wrong)) return fault.cause;
  }
  return "";
}

/// A lower precision shows as an error of the size (within a factor of 4) that its own rounding
/// makes.
std::string LowerPrecision(const GateData& data, const ErrorFigures& error) {
  const Situation situation = FirstSituation(data, data.gate_case.pool->batch);
  const std::pair<reference::Precision, const char*> lowered[] = {
      {reference::Precision::kTF32Operands, "products seem to be computed in TF32 or float16"},
      {reference::Precision::kBFloat16Operands, "products seem to be computed in bfloat16"}};
  for (const auto& [precision, cause] : lowered) {
    const auto wrong = Evaluate(situation, {precision, 0});
    if (!wrong.ok()) continue;
    const double expected =
        Compare(std::span<const double>(wrong->logits), data.reference.logits).norm_relative;
    if (error.norm_relative > expected / 4 && error.norm_relative < expected * 4) return cause;
  }
  return "";
}

std::string DiagnoseLogits(const GateData& data, const Check& failed, const Answers& answers) {
  if (!answers.logits) return "";
  const auto logits = LoadLogits(data.network(), data.gate_case.pool->batch, *answers.logits);
  if (!logits.ok()) return "";
  if (std::all_of(logits->begin(), logits->end(), [](float value) { return value == 0.0F; })) {
    return "the logits are all zero";
  }
  const std::vector<double> candidate = Widen(*logits);
  const Limit limit = data.limits.Of(Quantity::kLogits, "", 1);
  const std::string cause = FirstFitting(data, [&](const reference::StepResult& wrong) {
    return wrong.logits.size() == candidate.size() &&
           Within(Compare(std::span<const double>(candidate), wrong.logits), limit);
  });
  return cause.empty() ? LowerPrecision(data, failed.error) : cause;
}

std::string DiagnoseLoss(const GateData& data, const Check& failed, const Answers& answers) {
  const auto index = static_cast<std::size_t>(failed.steps - 1);
  if (index >= answers.losses.size()) return "";
  const Limit limit = data.limits.Of(Quantity::kLoss, "", failed.steps);
  const auto fits = [&](double wrong) {
    return Within(Compare(std::span(&answers.losses[index], 1), std::span(&wrong, 1)), limit);
  };
  if (index > 0) {
    // The first loss was right, so the pass is; a later one follows from the updates.
    if (fits(data.reference.losses[index - 1])) return "the loss is that of the step before";
    if (answers.losses[index] == answers.losses[0]) return "the loss does not change";
    return "";
  }
  const auto labels = BatchLabels(*data.gate_case.pool, data.sequence.batches.front());
  for (const LossFault& fault : KnownLossFaults()) {
    if (fits(fault.loss(data.reference.logits, labels, data.network().classes,
                        data.reference.losses.front()))) {
      return fault.cause;
    }
  }
  return FirstFitting(data, [&](const reference::StepResult& wrong) { return fits(wrong.loss); });
}

/// Factors between right and wrong gradients that have a name.
std::string NameOfFactor(const GateData& data, double factor) {
  const auto batch = static_cast<double>(data.gate_case.pool->batch);
  const auto classes = static_cast<double>(data.network().classes);
  const std::pair<double, const char*> named[] = {
      {batch, "the gradient is summed over the batch, not averaged"},
      {1.0 / batch, "the gradient is divided by the batch size once too often"},
      {2.0, "the gradient is twice what it should be"},
      {0.5, "the gradient is half of what it should be"},
      {-1.0, "the gradient has the wrong sign"},
      {classes, "the gradient is multiplied by the number of classes"},
      {1.0 / classes, "the gradient is divided by the number of classes"}};
  for (const auto& [value, cause] : named) {
    if (std::abs(factor - value) <= 1e-4 * std::abs(value)) return cause;
  }
  if (factor > 0.0 && factor < 1.0) {
    return fmt::format("all gradients are scaled by {:.4g} (clipped?)", factor);
  }
  return fmt::format("all gradients are scaled by {:.4g}", factor);
}

/// The factor s for which candidate = s * reference within the limit, if there is one.
std::optional<double> CommonFactor(const std::vector<double>& candidate,
                                   const std::vector<double>& reference, const Limit& limit) {
  double product = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    product += candidate[i] * reference[i];
    squares += reference[i] * reference[i];
  }
  if (squares == 0.0 || product == 0.0) return std::nullopt;
  const double factor = product / squares;
  std::vector<double> scaled(reference.size());
  std::transform(reference.begin(), reference.end(), scaled.begin(),
                 [&](double value) { return factor * value; });
  if (!Within(Compare(std::span<const double>(candidate), scaled), limit)) return std::nullopt;
  return factor;
}

bool HoldsDecay(const GateData& data, const std::string& name, const std::vector<double>& candidate,
                const Limit& limit) {
  const double decay = data.network().optimizer.weight_decay;
  if (decay == 0.0) return false;
  std::vector<double> decayed = data.reference.gradients.at(name);
  const std::vector<double>& weights = data.start.weights.at(name);
  for (std::size_t i = 0; i < decayed.size(); ++i) decayed[i] += decay * weights[i];
  return Within(Compare(std::span<const double>(candidate), decayed), limit);
}

std::string DiagnoseGradient(const GateData& data, const Check& failed, const Answers& answers) {
  if (!answers.gradients) return "";
  const auto gradients = LoadParameters(data.network(), *answers.gradients, "gradients");
  if (!gradients.ok()) return "";
  const Limit limit = data.limits.Of(Quantity::kGradient, failed.tensor, failed.steps);
  const std::vector<double> candidate = Widen(gradients->at(failed.tensor));
  if (std::all_of(candidate.begin(), candidate.end(), [](double value) { return value == 0.0; })) {
    return "the gradient of '" + failed.tensor + "' is zero (detached from the loss?)";
  }
  if (HoldsDecay(data, failed.tensor, candidate, limit)) {
    return "the weight decay is already contained in the gradient";
  }
  std::optional<double> common;
  for (const network::Parameter* parameter : data.network().Parameters()) {
    const auto factor = CommonFactor(Widen(gradients->at(parameter->name)),
                                     data.reference.gradients.at(parameter->name),
                                     data.limits.Of(Quantity::kGradient, parameter->name, 1));
    if (!factor || (common && std::abs(*factor - *common) > 1e-3 * std::abs(*common))) {
      common.reset();
      break;
    }
    common = factor;
  }
  if (common && std::abs(*common - 1.0) > 1e-5) return NameOfFactor(data, *common);
  return FirstFitting(data, [&](const reference::StepResult& wrong) {
    return std::all_of(gradients->begin(), gradients->end(), [&](const auto& entry) {
      return Within(Compare(std::span<const float>(entry.second), wrong.gradients.at(entry.first)),
                    data.limits.Of(Quantity::kGradient, entry.first, 1));
    });
  });
}

double GlobalNorm(const Tensors& tensors) {
  double squares = 0.0;
  for (const auto& [name, values] : tensors) {
    for (const double value : values) squares += value * value;
  }
  return std::sqrt(squares);
}

void AdvanceAll(const GateData& data, const UpdateRule& rule, std::size_t step, double rate,
                double first_rate, const Tensors& gradients, reference::State& state) {
  const double norm = rule.clip_norm > 0.0 ? GlobalNorm(gradients) : 0.0;
  for (const network::Parameter* parameter : data.network().Parameters()) {
    std::vector<double>& weights = state.weights.at(parameter->name);
    std::vector<double>& velocity = state.velocity[parameter->name];
    velocity.resize(weights.size(), 0.0);
    Advance(rule, data.network().optimizer, parameter->decays, step, rate, first_rate, norm,
            gradients.at(parameter->name), weights, velocity);
  }
}

/// Whether the candidate's change from `start` is `state`'s, for every tensor within its limit.
bool ChangeFits(const GateData& data, const Floats& candidate_start, const Floats& candidate_end,
                const Tensors& start, const Tensors& end, Quantity quantity, std::int64_t steps) {
  return std::all_of(candidate_end.begin(), candidate_end.end(), [&](const auto& entry) {
    const auto& [name, values] = entry;
    const Limit limit = data.limits.Of(quantity, name, steps);
    // An undecidable tensor says nothing for or against a cause.
    if (limit.norm > kDecidable) return true;
    const ErrorFigures error = CompareChange(std::span<const float>(candidate_start.at(name)),
                                             values, start.at(name), end.at(name));
    return Within(error, limit);
  });
}

/// Follows `rule` through the sequence with the reference's gradients at its own weights and
/// compares with the candidate's weights wherever there are any.
bool RuleFits(const GateData& data, const UpdateRule& rule, const Floats& candidate_start,
              const std::map<std::int64_t, Floats>& candidate) {
  const data::BatchPool& pool = *data.gate_case.pool;
  auto engine = reference::Engine::Create(data.network(), pool.batch, {});
  if (!engine.ok()) return false;
  reference::State state = data.start;
  for (std::size_t i = 0; i < data.sequence.batches.size(); ++i) {
    const std::int64_t batch = data.sequence.batches[rule.stale_batch && i > 0 ? i - 1 : i];
    (*engine)->SetState(state);
    const auto step = (*engine)->Step(BatchInputs(pool, batch), BatchLabels(pool, batch), 0.0);
    AdvanceAll(data, rule, i, data.sequence.learning_rates[i], data.sequence.learning_rates[0],
               step.gradients, state);
    const auto steps = static_cast<std::int64_t>(i) + 1;
    const auto found = candidate.find(steps);
    if (found != candidate.end() &&
        !ChangeFits(data, candidate_start, found->second, data.start.weights, state.weights,
                    Quantity::kUpdate, steps)) {
      return false;
    }
  }
  return true;
}

std::string DiagnoseUpdate(const GateData& data, const Answers& answers) {
  std::map<std::int64_t, Floats> candidate;
  for (const auto& [steps, path] : answers.weights) {
    auto weights = LoadParameters(data.network(), path, "weights");
    if (!weights.ok()) return "";
    candidate[steps] = std::move(*weights);
  }
  const Floats& start = *data.gate_case.weights;
  const bool nothing_moved = std::all_of(candidate.begin(), candidate.end(),
                                         [&](const auto& entry) { return entry.second == start; });
  if (nothing_moved) return "the weights do not move";
  for (const UpdateRule& rule : KnownUpdateFaults(data.network())) {
    if (RuleFits(data, rule, start, candidate)) return rule.cause;
  }
  return "";
}

std::string DiagnoseStep(const GateData& data, const StepFiles& files) {
  const auto before = LoadParameters(data.network(), files.weights_before, "weights before");
  const auto after = LoadParameters(data.network(), files.weights_after, "weights after");
  if (!before.ok() || !after.ok()) return "";
  if (*before == *after) return "the step after the run changed nothing";
  reference::State start;
  for (const auto& [name, values] : *before) start.weights[name] = Widen(values);
  if (files.velocity_before) {
    const auto velocity = LoadParameters(data.network(), *files.velocity_before, "velocity");
    if (!velocity.ok()) return "";
    for (const auto& [name, values] : *velocity) start.velocity[name] = Widen(values);
  }
  const data::BatchPool& pool = *data.gate_case.pool;
  auto engine = reference::Engine::Create(data.network(), pool.batch, {});
  if (!engine.ok()) return "";
  const double rate = data.network().optimizer.learning_rate;
  for (std::int64_t batch = 0; batch < pool.count; ++batch) {
    if (batch == files.batch % pool.count) continue;
    (*engine)->SetState(start);
    (void)(*engine)->Step(BatchInputs(pool, batch), BatchLabels(pool, batch), rate);
    if (ChangeFits(data, *before, *after, start.weights, (*engine)->GetState().weights,
                   Quantity::kUpdate, 1)) {
      return fmt::format("the step used batch {} of the pool instead of {}", batch,
                         files.batch % pool.count);
    }
  }
  return "";
}

}  // namespace

std::string Diagnose(const GateData& data, const Check& failed, const Answers* answers,
                     const StepFiles* step) {
  if (!failed.error.finite) return "values are not finite";
  switch (failed.quantity) {
    case Quantity::kLogits:
      return answers != nullptr ? DiagnoseLogits(data, failed, *answers) : "";
    case Quantity::kLoss:
      return answers != nullptr ? DiagnoseLoss(data, failed, *answers) : "";
    case Quantity::kGradient:
      return answers != nullptr ? DiagnoseGradient(data, failed, *answers) : "";
    case Quantity::kUpdate:
      return answers != nullptr ? DiagnoseUpdate(data, *answers) : "";
    case Quantity::kRunLoss:
      return "";
    case Quantity::kRunUpdate:
      return step != nullptr ? DiagnoseStep(data, *step) : "";
  }
  return "";
}

}  // namespace dlbench::verify
