#include "verify/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "verify/compare.h"

namespace dlbench::verify {

std::vector<double> Widen(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

bool Within(const ErrorFigures& error, const Limit& limit) {
  return error.finite && error.norm_relative <= limit.norm && error.worst_over_rms <= limit.worst;
}

namespace {

std::vector<ForwardFault> ForwardFaults(const GateData& data) {
  const std::int64_t other = data.sequence.batches.size() > 1 ? data.sequence.batches[1] : 0;
  return KnownForwardFaults(data.network(), BatchInputs(*data.gate_case.pool, other),
                            BatchLabels(*data.gate_case.pool, other));
}

/// Runs every forward fault and returns the cause of the first whose result `fits`.
std::string FirstFitting(const GateData& data,
                         const std::function<bool(const reference::StepResult&)>& fits) {
  const Situation situation = FirstSituation(data, data.gate_case.pool->batch);
  Evaluator evaluator;
  for (const ForwardFault& fault : ForwardFaults(data)) {
    const std::optional<Situation> changed = fault.apply(situation);
    if (!changed) continue;
    const auto wrong = evaluator.Evaluate(*changed);
    if (wrong.ok() && fits(*wrong)) return fault.cause;
  }
  return "";
}

/// Cosine between the errors of two candidates.
double ErrorCosine(const std::vector<double>& a, const std::vector<double>& b,
                   const std::vector<double>& right) {
  double product = 0.0;
  double squares_a = 0.0;
  double squares_b = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    product += (a[i] - right[i]) * (b[i] - right[i]);
    squares_a += (a[i] - right[i]) * (a[i] - right[i]);
    squares_b += (b[i] - right[i]) * (b[i] - right[i]);
  }
  return squares_a == 0.0 || squares_b == 0.0 ? 0.0 : product / std::sqrt(squares_a * squares_b);
}

/// A lower precision makes errors of the size (within a factor of 4) and of the direction that its
/// own rounding makes. Errors of another origin have a cosine of about 1/sqrt(logits), 0.04 for 640
/// of them; a framework that also rounds what the products give still has more than a half.
std::string LowerPrecision(const GateData& data, const std::vector<double>& logits,
                           const ErrorFigures& error) {
  const Situation situation = FirstSituation(data, data.gate_case.pool->batch);
  const std::pair<reference::Precision, const char*> lowered[] = {
      {reference::Precision::kTF32Operands, "products seem to be computed in TF32 or float16"},
      {reference::Precision::kBFloat16Operands, "products seem to be computed in bfloat16"}};
  for (const auto& [precision, cause] : lowered) {
    const auto wrong = Evaluator().Evaluate(situation, {precision, 0});
    if (!wrong.ok()) continue;
    const std::vector<double>& right = data.reference.logits;
    const double expected = Compare(std::span<const double>(wrong->logits), right).norm_relative;
    const bool same_size = error.norm_relative > expected / 4 && error.norm_relative < expected * 4;
    if (same_size && ErrorCosine(logits, wrong->logits, right) > 0.3) return cause;
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
  const auto classes = static_cast<std::ptrdiff_t>(data.network().classes);
  const bool rows_equal = data.gate_case.pool->batch > 1 &&
                          std::equal(logits->begin() + classes, logits->end(), logits->begin());
  if (rows_equal) return "all rows of the logits are equal: they do not depend on the sample";
  const std::vector<double> candidate = Widen(*logits);
  const Limit limit = data.limits.Of(Quantity::kLogits, "", 1);
  // Launches take one step before the first check.
  Situation moved = FirstSituation(data, data.gate_case.pool->batch);
  moved.weights = std::make_shared<const Tensors>(data.reference.weights.at(1));
  const auto after_a_step = Evaluator().Evaluate(moved);
  if (after_a_step.ok() &&
      Within(Compare(std::span<const double>(candidate), after_a_step->logits), limit)) {
    return "the reset does not restore the weights";
  }
  const std::string cause = FirstFitting(data, [&](const reference::StepResult& wrong) {
    return wrong.logits.size() == candidate.size() &&
           Within(Compare(std::span<const double>(candidate), wrong.logits), limit);
  });
  return cause.empty() ? LowerPrecision(data, candidate, failed.error) : cause;
}

/// The cause of a wrong loss that shows in the losses of all steps together.
std::string DiagnoseLosses(const GateData& data, const std::vector<double>& losses) {
  const auto fits = [&](std::size_t i, double wrong) {
    const Limit limit = data.limits.Of(Quantity::kLoss, "", static_cast<std::int64_t>(i) + 1);
    return Within(Compare(std::span(&losses[i], 1), std::span(&wrong, 1)), limit);
  };
  const auto all_fit = [&](const std::function<double(std::size_t)>& wrong) {
    for (std::size_t i = 1; i < losses.size(); ++i) {
      if (!fits(i, wrong(i))) return false;
    }
    return losses.size() > 1;
  };
  const std::vector<double>& right = data.reference.losses;
  if (all_fit([&](std::size_t) { return losses[0]; })) return "the loss does not change";
  if (all_fit([&](std::size_t i) { return right[i - 1]; })) {
    return "the loss is that of the step before";
  }
  if (fits(0, right[0])) {
    const data::BatchPool& pool = *data.gate_case.pool;
    auto engine = reference::Engine::Create(data.network(), pool.batch, {});
    if (!engine.ok()) return "";
    (*engine)->SetState(data.start);
    const bool of_initial = all_fit([&](std::size_t i) {
      const std::int64_t batch = data.sequence.batches[i];
      (*engine)->SetMasks(BatchMasks(pool, batch));
      return (*engine)->Forward(BatchInputs(pool, batch), BatchLabels(pool, batch)).loss;
    });
    return of_initial ? "the loss is that of the initial weights" : "";
  }
  return "";
}

std::string DiagnoseLoss(const GateData& data, const Check& failed, const Answers& answers) {
  const auto index = static_cast<std::size_t>(failed.steps - 1);
  if (index >= answers.losses.size()) return "";
  const std::string over_steps = DiagnoseLosses(data, answers.losses);
  // Where the first loss is right, so is the pass; a later one follows from the updates.
  if (!over_steps.empty() || index > 0) return over_steps;
  const Limit limit = data.limits.Of(Quantity::kLoss, "", failed.steps);
  const auto fits = [&](double wrong) {
    return Within(Compare(std::span(answers.losses.data(), 1), std::span(&wrong, 1)), limit);
  };
  const auto labels = BatchLabels(*data.gate_case.pool, data.sequence.batches.front());
  for (const LossFault& fault : KnownLossFaults()) {
    if (fits(fault.loss(data.reference.logits, labels, data.network().classes,
                        data.reference.losses.front()))) {
      return fault.cause;
    }
  }
  std::string cause =
      FirstFitting(data, [&](const reference::StepResult& wrong) { return fits(wrong.loss); });
  if (!cause.empty()) return cause;
  const double factor = answers.losses[0] / data.reference.losses[0];
  for (std::size_t i = 1; i < answers.losses.size(); ++i) {
    const double scaled = factor * data.reference.losses[i];
    const Limit later = data.limits.Of(Quantity::kLoss, "", static_cast<std::int64_t>(i) + 1);
    if (!Within(Compare(std::span(&answers.losses[i], 1), std::span(&scaled, 1)), later)) return "";
  }
  return fmt::format("every loss is scaled by {:.4g}", factor);
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

/// The factor that all gradients share, or that all those which are wrong share.
std::string DiagnoseScale(const GateData& data,
                          const std::map<std::string, std::vector<float>>& gradients) {
  std::optional<double> common;
  std::vector<std::string> scaled;
  const auto parameters = data.network().Parameters();
  for (const network::Parameter* parameter : parameters) {
    const std::string& name = parameter->name;
    const auto factor = CommonFactor(Widen(gradients.at(name)), data.reference.gradients.at(name),
                                     data.limits.Of(Quantity::kGradient, name, 1));
    if (!factor) return "";
    if (std::abs(*factor - 1.0) <= 1e-4) continue;
    if (common && std::abs(*factor - *common) > 1e-3 * std::abs(*common)) return "";
    common = factor;
    scaled.push_back(name);
  }
  if (!common) return "";
  if (scaled.size() == parameters.size()) return NameOfFactor(data, *common);
  return fmt::format("the gradients of {} alone are scaled by {:.4g}", fmt::join(scaled, ", "),
                     *common);
}

std::string DiagnoseGradient(const GateData& data, const Check& failed, const Answers& answers) {
  if (!answers.gradients) return DiagnoseUpdate(data, answers);
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
  const std::string scaled = DiagnoseScale(data, *gradients);
  if (!scaled.empty()) return scaled;
  return FirstFitting(data, [&](const reference::StepResult& wrong) {
    return std::all_of(gradients->begin(), gradients->end(), [&](const auto& entry) {
      return Within(Compare(std::span<const float>(entry.second), wrong.gradients.at(entry.first)),
                    data.limits.Of(Quantity::kGradient, entry.first, 1));
    });
  });
}

}  // namespace

std::string Diagnose(const GateData& data, const Check& failed, const Answers* answers,
                     const StepFiles* step) {
  if (!failed.error.finite) return "values are not finite";
  if (failed.moment == "middle") return "amid many steps other work is done than in the first ones";
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
    case Quantity::kRunState:
      return "the same steps were right in verify: a run does other work";
    case Quantity::kRunUpdate:
      return step != nullptr ? DiagnoseStep(data, *step) : "";
  }
  return "";
}

}  // namespace dlbench::verify
