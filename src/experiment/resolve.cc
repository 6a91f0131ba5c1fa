#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "experiment/campaign.h"
#include "network/parse.h"

namespace dlbench::experiment {
namespace {

Result<std::vector<std::string>> PresetsOf(const std::vector<frameworks::Manifest>& manifests,
                                           const frameworks::Installation& installation) {
  const auto found = std::find_if(
      manifests.begin(), manifests.end(),
      [&](const frameworks::Manifest& manifest) { return manifest.name == installation.name; });
  if (found == manifests.end() || found->presets.empty()) {
    return Error(ErrorCode::kInput,
                 fmt::format("the manifest of '{}' lists no presets", installation.name));
  }
  return found->presets;
}

}  // namespace

Result<std::vector<Arm>> ResolveArms(Plan& plan, const CampaignContext& context) {
  if (plan.threads.empty()) plan.threads = {context.machine.default_threads};
  DLBENCH_RETURN_IF_ERROR(CheckPlan(plan));
  for (const int threads : plan.threads) {
    if (threads > context.machine.usable_threads) {
      return Error(ErrorCode::kInput,
                   fmt::format("{} threads are more than the {} that this process may use here; "
                               "ask for fewer with --threads",
                               threads, context.machine.usable_threads));
    }
  }
  for (const std::string& name : plan.networks) {
    const auto network = network::FindNetwork(name, context.network_folders);
    if (!network.ok()) return network.error();
  }
  DLBENCH_ASSIGN_OR_RETURN(const auto manifests, frameworks::LoadManifests(context.places));
  std::vector<FrameworkChoice> choices;
  for (const std::string& name : plan.frameworks) {
    DLBENCH_ASSIGN_OR_RETURN(auto installation, frameworks::Find(context.places, name));
    DLBENCH_ASSIGN_OR_RETURN(auto presets, PresetsOf(manifests, installation));
    choices.push_back({std::move(installation), std::move(presets)});
  }
  return MakeArms(plan, choices);
}

void PrintPlan(const Plan& plan, const std::vector<Arm>& arms, std::ostream& out) {
  for (const Arm& arm : arms) out << arm.Label() << '\n';
  const auto launches = static_cast<std::int64_t>(arms.size()) * (plan.rounds + 1);
  // Start, building and checks take about as long as three seconds of timing with the frameworks
  // tried.
  const double minutes =
      static_cast<double>(launches) * (plan.warmup_seconds + plan.launch_seconds + 3.0) / 60.0;
  out << fmt::format(
      "{} configurations, {} rounds in random order, {} launches ({} of them gate launches), about "
      "{:.0f} minutes\n",
      arms.size(), plan.rounds, launches, arms.size(), std::max(1.0, minutes));
}

}  // namespace dlbench::experiment
