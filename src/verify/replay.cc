#include "verify/replay.h"

#include "verify/compare.h"

namespace dlbench::verify {

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
  replay.start = reference::StateFrom(replay.before);
  if (files.velocity_before) {
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
  return replay;
}

ErrorFigures ChangeError(const Replay& replay, const std::string& name, const Trajectory& other,
                         std::int64_t steps) {
  return CompareChange(std::span<const float>(replay.before.at(name)), replay.after.at(name),
                       other.weights.at(0).at(name), other.weights.at(steps).at(name));
}

}  // namespace dlbench::verify
