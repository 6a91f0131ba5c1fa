#pragma once

#include <cstdint>
#include <string>

#include "experiment/arm.h"
#include "experiment/inputs.h"
#include "experiment/judge.h"
#include "experiment/launcher.h"
#include "store/store.h"

namespace dlbench::experiment {

/// The stored identity of an arm.
store::Configuration ConfigurationOf(const Arm& arm, const Case& inputs, const worker::Hello& hello,
                                     const std::map<std::string, std::string>& settings);

/// Where a launch stands in its campaign.
struct LaunchPlace {
  std::int64_t campaign = 0, configuration = 0;
  std::int64_t round = 0, position = 0;  ///< Round -1: the gate launch.
  std::string folder;                    ///< Relative to the results folder.
  std::string started;                   ///< Calendar label.
  std::int64_t warmup_steps = 0;
};

/// The stored form of a launch. Records and summary are there only for a timed launch that proved
/// equal.
store::LaunchRow LaunchRowOf(const LaunchPlace& place, const LaunchObservation& seen,
                             const Judgement& judgement);

}  // namespace dlbench::experiment
