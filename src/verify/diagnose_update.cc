#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "verify/compare.h"
#include "verify/diagnose.h"
#include "verify/replay.h"
#include "verify/update_rules.h"

namespace dlbench::verify {
namespace {

using Floats = std::map<std::string, std::vector<float>>;

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

double ChangeNorm(const std::vector<double>& start, const std::vector<double>& end) {
  double squares = 0.0;
  for (std::size_t i = 0; i < end.size(); ++i) squares += (end[i] - start[i]) * (end[i] - start[i]);
  return std::sqrt(squares);
}

/// Whether the candidate's change from `start` is `state`'s, for every tensor within its limit.
bool ChangeFits(const GateData& data, const Floats& candidate_start, const Floats& candidate_end,
                const Tensors& start, const Tensors& end, std::int64_t steps) {
  return std::all_of(candidate_end.begin(), candidate_end.end(), [&](const auto& entry) {
    const auto& [name, values] = entry;
    const Limit limit = data.limits.Of(Quantity::kUpdate, name, steps);
    // An undecidable tensor says nothing for or against a cause.
    if (limit.norm > kDecidable) return true;
    // Rounding of the stored weights is absolute, so a smaller change has a larger relative error.
    const double shorter = std::max(
        1.0, ChangeNorm(data.start.weights.at(name), data.reference.weights.at(steps).at(name)) /
                 std::max(ChangeNorm(start.at(name), end.at(name)), 1e-300));
    const ErrorFigures error = CompareChange(std::span<const float>(candidate_start.at(name)),
                                             values, start.at(name), end.at(name));
    return Within(error, {limit.norm * shorter, limit.worst * shorter});
  });
}

/// How the candidate's steps may differ from the right ones other than by the rule.
struct Deviation {
  UpdateRule rule;
  std::vector<std::int64_t> batches;  ///< Pool batches in the order used.
  bool keeps_velocity = false;        ///< The velocity is that after one step, not zero.
  std::int64_t behind = 0;            ///< The weights handed out are so many steps old.
};

Deviation Right(const GateData& data) { return {UpdateRule{}, data.sequence.batches, false, 0}; }

/// Follows `deviation` with the reference's gradients at its own weights and compares with the
/// candidate's weights wherever there are any.
bool Fits(const GateData& data, const Deviation& deviation,
          const std::map<std::int64_t, Floats>& candidate) {
  const UpdateRule& rule = deviation.rule;
  const data::BatchPool& pool = *data.gate_case.pool;
  const Floats& candidate_start = *data.gate_case.weights;
  auto engine = reference::Engine::Create(data.network(), pool.batch, {});
  if (!engine.ok()) return false;
  reference::State state = data.start;
  std::vector<Tensors> weights{state.weights};
  for (std::size_t i = 0; i < deviation.batches.size(); ++i) {
    const std::int64_t batch = deviation.batches[rule.stale_batch && i > 0 ? i - 1 : i];
    (*engine)->SetState(state);
    (*engine)->SetMasks(BatchMasks(pool, batch));
    const auto step = (*engine)->Step(BatchInputs(pool, batch), BatchLabels(pool, batch), 0.0);
    if (deviation.keeps_velocity && i == 0) {
      AdvanceAll(data, rule, 0, 0.0, 0.0, step.gradients, state);  // Moves the velocity alone.
    }
    AdvanceAll(data, rule, i, data.sequence.learning_rates[i], data.sequence.learning_rates[0],
               step.gradients, state);
    weights.push_back(state.weights);
    if (weights.size() > 2) weights.erase(weights.begin());
    const auto steps = static_cast<std::int64_t>(i) + 1;
    const auto found = candidate.find(steps);
    const Tensors& handed_out = deviation.behind > 0 ? weights.front() : weights.back();
    if (found != candidate.end() &&
        !ChangeFits(data, candidate_start, found->second, data.start.weights, handed_out, steps)) {
      return false;
    }
  }
  return true;
}

/// The factor between the candidate's first update and the right one: a rate's, whatever it is.
std::optional<double> RateFactor(const GateData& data,
                                 const std::map<std::int64_t, Floats>& candidate) {
  const auto first = candidate.find(1);
  if (first == candidate.end()) return std::nullopt;
  double product = 0.0;
  double squares = 0.0;
  for (const auto& [name, end] : data.reference.weights.at(1)) {
    const std::vector<double>& start = data.start.weights.at(name);
    const std::vector<float>& moved = first->second.at(name);
    for (std::size_t i = 0; i < end.size(); ++i) {
      product += (static_cast<double>(moved[i]) - start[i]) * (end[i] - start[i]);
      squares += (end[i] - start[i]) * (end[i] - start[i]);
    }
  }
  if (squares == 0.0 || product == 0.0) return std::nullopt;
  return product / squares;
}

/// A storage type coarser than float32 whose numbers all of `weights` are.
std::string CoarseStorage(const Floats& weights) {
  std::uint32_t used = 0;
  for (const auto& [name, values] : weights) {
    for (const float value : values) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      used |= bits;
    }
  }
  // Bits of the significand that float32 has and the coarser type lacks.
  if ((used & 0xFFFFU) == 0) return "the weights are stored in bfloat16";
  if ((used & 0x1FFFU) == 0) return "the weights are stored in float16 (or TF32)";
  return "";
}

/// Exchanges of two batches; `first_wrong` is the first step whose loss is not the right one.
std::string ExchangedBatches(const GateData& data, const Answers& answers,
                             const std::map<std::int64_t, Floats>& candidate) {
  const std::vector<double>& right = data.reference.losses;
  std::size_t first_wrong = 0;
  while (first_wrong < right.size() && first_wrong < answers.losses.size()) {
    const Limit limit =
        data.limits.Of(Quantity::kLoss, "", static_cast<std::int64_t>(first_wrong) + 1);
    const auto error =
        Compare(std::span(&answers.losses[first_wrong], 1), std::span(&right[first_wrong], 1));
    if (!Within(error, limit)) break;
    ++first_wrong;
  }
  Deviation deviation = Right(data);
  for (std::size_t other = first_wrong + 1; other < deviation.batches.size(); ++other) {
    Deviation exchanged = deviation;
    std::swap(exchanged.batches[first_wrong], exchanged.batches[other]);
    if (Fits(data, exchanged, candidate)) {
      return fmt::format("batches {} and {} of the pool are exchanged",
                         deviation.batches[first_wrong], deviation.batches[other]);
    }
  }
  return "";
}

/// Replays the steps with `pool` and `start` instead of the right ones.
bool StepFits(const GateData& data, const Replay& replay, const reference::State& start,
              const data::BatchPool& pool, const Sequence& sequence) {
  const auto steps = static_cast<std::int64_t>(sequence.batches.size());
  const auto other =
      RunReference(data.network(), start, pool, sequence, {false, {0, steps}, false}, {});
  if (!other.ok()) return false;
  return std::all_of(replay.before.begin(), replay.before.end(), [&](const auto& entry) {
    const Limit limit = replay.limits.Of(Quantity::kRunUpdate, entry.first, steps);
    return limit.norm > kDecidable ||
           Within(ChangeError(replay, entry.first, *other, steps), limit);
  });
}

/// The pool with the first half of every batch alone.
data::BatchPool HalfPool(const data::BatchPool& pool) {
  data::BatchPool half = pool;
  half.batch = pool.batch / 2;
  half.x.clear();
  half.labels.clear();
  half.masks.clear();
  const std::int64_t samples = pool.count * pool.batch;
  const auto width = static_cast<std::ptrdiff_t>(pool.x.size()) / samples;
  const auto rows = static_cast<std::ptrdiff_t>(pool.labels.size()) / samples;
  for (std::int64_t i = 0; i < pool.count; ++i) {
    const auto x = BatchInputs(pool, i);
    const auto labels = BatchLabels(pool, i);
    half.x.insert(half.x.end(), x.begin(), x.begin() + half.batch * width);
    half.labels.insert(half.labels.end(), labels.begin(), labels.begin() + half.batch * rows);
    for (const auto& [node, mask] : BatchMasks(pool, i)) {
      const auto kept = static_cast<std::ptrdiff_t>(mask.size()) / pool.batch * half.batch;
      half.masks[node].insert(half.masks[node].end(), mask.begin(), mask.begin() + kept);
    }
  }
  return half;
}

std::string WrongVelocity(const GateData& data, const Replay& replay, const Sequence& sequence) {
  const data::BatchPool& pool = *data.gate_case.pool;
  const double rate = data.network().optimizer.learning_rate;
  const auto with_factor = [&](double factor) {
    reference::State start = replay.start;
    for (auto& [name, values] : start.velocity) {
      for (double& value : values) value *= factor;
    }
    return StepFits(data, replay, start, pool, sequence);
  };
  if (with_factor(1.0 / rate)) return "the exported velocity is multiplied by the learning rate";
  if (with_factor(rate)) return "the exported velocity is divided by the learning rate";
  if (with_factor(-1.0)) return "the exported velocity has the wrong sign";
  if (with_factor(0.0)) return "the steps after the run start without the exported velocity";
  return "";
}

}  // namespace

std::string DiagnoseUpdate(const GateData& data, const Answers& answers) {
  std::map<std::int64_t, Floats> candidate;
  for (const auto& [steps, path] : answers.weights) {
    auto weights = LoadParameters(data.network(), path, "weights");
    if (!weights.ok()) return "";
    candidate[steps] = std::move(*weights);
  }
  if (candidate.empty()) return "";
  const Floats& start = *data.gate_case.weights;
  const bool nothing_moved = std::all_of(candidate.begin(), candidate.end(),
                                         [&](const auto& entry) { return entry.second == start; });
  if (nothing_moved) return "the weights do not move";
  const std::string coarse = CoarseStorage(candidate.rbegin()->second);
  if (!coarse.empty()) return coarse;
  for (const UpdateRule& rule : KnownUpdateFaults(data.network())) {
    Deviation deviation = Right(data);
    deviation.rule = rule;
    if (Fits(data, deviation, candidate)) return rule.cause;
  }
  Deviation behind = Right(data);
  behind.behind = 1;
  if (Fits(data, behind, candidate)) return "the weights handed out are those of the step before";
  Deviation kept = Right(data);
  kept.keeps_velocity = true;
  if (Fits(data, kept, candidate)) return "the reset does not clear the velocity";
  Deviation scaled = Right(data);
  scaled.rule.rate_factor = RateFactor(data, candidate).value_or(1.0);
  if (Fits(data, scaled, candidate)) {
    return fmt::format("the learning rate is {:.4g} times what it should be",
                       scaled.rule.rate_factor);
  }
  return ExchangedBatches(data, answers, candidate);
}

std::string DiagnoseStep(const GateData& data, const StepFiles& files) {
  const auto replay = ReplaySteps(data, files);
  if (!replay.ok()) return "";
  if (replay->before == replay->after) return "the steps after the run changed nothing";
  const data::BatchPool& pool = *data.gate_case.pool;
  for (std::int64_t batch = 0; batch < pool.count; ++batch) {
    if (batch == files.first_batch % pool.count) continue;
    if (StepFits(data, *replay, replay->start, pool, StepSequence(data, files, batch))) {
      return fmt::format("the steps used the pool from batch {} on instead of {}", batch,
                         files.first_batch % pool.count);
    }
  }
  const Sequence sequence = StepSequence(data, files, files.first_batch);
  if (pool.batch > 1 && StepFits(data, *replay, replay->start, HalfPool(pool), sequence)) {
    return "only the first half of the batch is used";
  }
  return WrongVelocity(data, *replay, sequence);
}

}  // namespace dlbench::verify
