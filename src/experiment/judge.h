#pragma once

#include <optional>

#include "experiment/launcher.h"
#include "verify/gate.h"
#include "worker/worker.h"

namespace dlbench::experiment {

/// What a launch proved: the gate's result, or the failure that took its place.
struct Judgement {
  std::optional<worker::Failure> failure;
  std::optional<verify::GateResult> gate;
};

/// How much was asked of `request` before its run and after it.
struct Depths {
  verify::Depth before = verify::Depth::kLight, after = verify::Depth::kLight;
};
Depths DepthsOf(const LaunchRequest& request);

/// Holds everything that the launch showed against the reference: answers before the run, losses of
/// the run, the step after it, answers after it. An answer that is malformed is a failure (wrong
/// result).
Judgement JudgeLaunch(const verify::Gate& gate, const LaunchObservation& seen, Depths depths);

}  // namespace dlbench::experiment
