#include "verify/replay.h"

#include <cmath>
#include <limits>

#include "data/random.h"
#include "verify/compare.h"

namespace dlbench::verify {
namespace {

/// The velocity after the step from `earlier` to `before`: w(k) = w(k-1) - rate * v(k).
Tensors DerivedVelocity(const GateData& data,
                        const std::map<std::string, std::vector<float>>& earlier,
                        const std::map<std::string, std::vector<float>>& before) {
  const double rate = data.network().optimizer.learning_rate;
  Tensors velocity;
  for (const auto& [name, values] : before) {
    const std::vector<float>& from = earlier.at(name);
    std::vector<double>& derived = velocity[name];
    derived.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      derived.push_back((static_cast<double>(from[i]) - static_cast<double>(values[i])) / rate);
    }
  }
  return velocity;
}

/// `state` with velocities as wrong as weights rounded to float32 make derived ones: both weights
/// are off by up to half a unit in the last place.
reference::State WithRoundingOfVelocity(const GateData& data, const reference::State& state) {
  constexpr double kHalfUnit = std::numeric_limits<float>::epsilon() / 2;
  const double rate = data.network().optimizer.learning_rate;
  reference::State rounded = state;
  for (auto& [name, velocity] : rounded.velocity) {
    std::vector<float> before(velocity.size());
    std::vector<float> earlier(velocity.size());
    data::NamedStream(1, "rounding of " + name).FillUniform(before, kHalfUnit);
    data::NamedStream(1, "earlier rounding of " + name).FillUniform(earlier, kHalfUnit);
    const std::vector<double>& weights = state.weights.at(name);
    for (std::size_t i = 0; i < velocity.size(); ++i) {
      const double units = static_cast<double>(before[i]) + static_cast<double>(earlier[i]);
      velocity[i] += units * std::abs(weights[i]) / rate;
    }
  }
  return rounded;
}

}  // namespace

Sequence StepSequence(const GateData& data, const StepFiles& files, std::int64_t first_batch) {
  Sequence sequence;
  for (std::int64_t i = 0; i < files.steps; ++i) {
    sequence.batches.push_back((first_batch + i) % data.gate_case.pool->count);
    sequence.learning_rates.push_back(data.network().optimizer.learning_rate);
  }
  return sequence;
}

Result<Replay> ReplaySteps(const GateData& data, const StepFiles& files) {
  const network::Network& network = data.network();
  Replay replay;
  DLBENCH_ASSIGN_OR_RETURN(replay.before, LoadParameters(network, files.weights_before,
                                                         "weights before the steps after the run"));
  DLBENCH_ASSIGN_OR_RETURN(replay.after, LoadParameters(network, files.weights_after,
                                                        "weights after the steps after the run"));
  const std::int64_t batch = data.gate_case.pool->batch;
  DLBENCH_ASSIGN_OR_RETURN(
      replay.buffers_before,
      LoadBuffers(network, batch, files.weights_before, "buffers before the steps after the run"));
  DLBENCH_ASSIGN_OR_RETURN(
      replay.buffers_after,
      LoadBuffers(network, batch, files.weights_after, "buffers after the steps after the run"));
  replay.start = reference::StateFrom(replay.before);
  replay.start.buffers = reference::StateFrom(replay.buffers_before).weights;
  const bool derived = files.weights_earlier && network.optimizer.momentum != 0.0;
  if (derived) {
    DLBENCH_ASSIGN_OR_RETURN(const auto earlier,
                             LoadParameters(network, *files.weights_earlier, "earlier weights"));
    replay.start.velocity = DerivedVelocity(data, earlier, replay.before);
  } else if (files.velocity_before) {
    DLBENCH_ASSIGN_OR_RETURN(const auto velocity, LoadParameters(network, *files.velocity_before,
                                                                 "velocity after the run"));
    replay.start.velocity = reference::StateFrom(velocity).weights;
  } else if (network.optimizer.momentum != 0.0) {
    return Error(ErrorCode::kFailed, "the velocity was not handed out although there is momentum");
  }
  const Sequence sequence = StepSequence(data, files, files.first_batch);
  const Keep keep{false, {0, files.steps}, false};
  const data::BatchPool& pool = *data.gate_case.pool;
  DLBENCH_ASSIGN_OR_RETURN(replay.right,
                           RunReference(network, replay.start, pool, sequence, keep, {}));
  for (int order = 0; order < 2; ++order) {
    DLBENCH_ASSIGN_OR_RETURN(const Trajectory natural,
                             RunReference(network, replay.start, pool, sequence, keep,
                                          {reference::Precision::kFloat32, order}));
    ObserveTrajectory(natural, replay.right, replay.limits);
    ObserveChange(natural, replay.right, files.steps, Quantity::kRunUpdate, replay.limits);
  }
  // Two to four losses under two orders are few: what was seen of the run's first ones counts too.
  for (std::int64_t step = 1; step <= files.steps; ++step) {
    replay.limits.Observe(Quantity::kLoss, "", step,
                          data.limits.Natural(Quantity::kRunLoss, "", 1));
  }
  if (derived) {
    DLBENCH_ASSIGN_OR_RETURN(const Trajectory natural,
                             RunReference(network, WithRoundingOfVelocity(data, replay.start), pool,
                                          sequence, keep, {}));
    ObserveTrajectory(natural, replay.right, replay.limits);
    ObserveChange(natural, replay.right, files.steps, Quantity::kRunUpdate, replay.limits);
  }
  return replay;
}

ErrorFigures ChangeError(const Replay& replay, const std::string& name, const Trajectory& other,
                         std::int64_t steps) {
  return CompareChange(std::span<const float>(replay.before.at(name)), replay.after.at(name),
                       other.weights.at(0).at(name), other.weights.at(steps).at(name));
}

}  // namespace dlbench::verify
