#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "verify/gate_data.h"

namespace dlbench::verify {

/// The steps after the run, taken by the reference from the state that the adapter exported.
struct Replay {
  std::map<std::string, std::vector<float>> before, after;  ///< The adapter's weights.
  std::map<std::string, std::vector<float>> buffers_before, buffers_after;
  reference::State start;  ///< `before`, with its velocity.
  Trajectory right;        ///< Weights after 0 and all steps.
  Limits limits;           ///< Measured for these very steps: updates, and the loss of each.
};

/// Loads the files and takes the steps, once in float64 and twice in float32. An Error means that
/// the files are malformed.
Result<Replay> ReplaySteps(const GateData& data, const StepFiles& files);

/// The steps of `files`, the first of them on pool batch `first_batch`.
Sequence StepSequence(const GateData& data, const StepFiles& files, std::int64_t first_batch);

/// How far the adapter's change of tensor `name` is from that of `other` (a run from a start of its
/// own, with the weights after 0 and after `steps` steps).
ErrorFigures ChangeError(const Replay& replay, const std::string& name, const Trajectory& other,
                         std::int64_t steps);

}  // namespace dlbench::verify
