#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "experiment/arm.h"
#include "experiment/launcher.h"
#include "experiment/plan.h"
#include "experiment/progress.h"
#include "frameworks/frameworks.h"
#include "machine/machine.h"
#include "store/store.h"

namespace dlbench::experiment {

/// Everything a campaign needs besides its plan. Pointers must outlive it.
struct CampaignContext {
  frameworks::Places places;
  std::vector<std::filesystem::path> network_folders;
  std::filesystem::path results_folder;
  std::string command_line;
  bool resume = false;       ///< Go on with the newest unfinished campaign of the same plan.
  bool keep = false;         ///< Leave weights, batches, reference and the adapters' tensors.
  bool verify_only = false;  ///< Gate launches alone, no timing.
  machine::Machine machine;
  std::vector<machine::Peak> peaks;
  Clock* clock = nullptr;
  Launcher* launcher = nullptr;
  Progress* progress = nullptr;
  const volatile std::sig_atomic_t* interrupted = nullptr;
};

/// The arms that `plan` means on this machine: networks and frameworks found, threads filled in.
/// Errors say what to install or correct.
Result<std::vector<Arm>> ResolveArms(Plan& plan, const CampaignContext& context);

/// What `run --dry-run` prints: arms, rounds, launches, about how long.
void PrintPlan(const Plan& plan, const std::vector<Arm>& arms, std::ostream& out);

/// Runs `plan`: a gate launch of every arm, then rounds of fresh processes in random order,
/// everything stored as it happens. Returns the id of the campaign in the store; one that was
/// interrupted stays unfinished. A configuration that fails or proves unequal does not stop the
/// others.
Result<std::int64_t> RunCampaign(Plan plan, const CampaignContext& context, store::Store& store);

}  // namespace dlbench::experiment
