#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "experiment/plan.h"
#include "frameworks/frameworks.h"

namespace dlbench::experiment {

/// One configuration of the grid, before anything has run.
struct Arm {
  frameworks::Installation installation;
  std::string preset;
  std::string network;  ///< As the plan names it.
  std::int64_t batch = 0;
  int threads = 1;
  std::string mode, device, precision, input;
  std::size_t case_index =
      0;  ///< Of (network, batch): arms of one case share weights, batches and reference.
  std::size_t group_index =
      0;  ///< Arms that differ in framework and preset only: they are compared.

  /// "pytorch recommended, fcn-r, batch 64, 2 threads": for progress and errors.
  std::string Label() const;
};

/// What one framework can be asked for.
struct FrameworkChoice {
  frameworks::Installation installation;
  std::vector<std::string> presets;  ///< As its manifest lists them.
};

/// The grid in the plan's order. Presets: those of the plan, else all of each framework; a quick
/// look takes "recommended" where a framework has it, else its first. kInput for a preset that no
/// framework has.
Result<std::vector<Arm>> MakeArms(const Plan& plan, const std::vector<FrameworkChoice>& choices);

}  // namespace dlbench::experiment
