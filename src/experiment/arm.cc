#include "experiment/arm.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/text.h"

namespace dlbench::experiment {
namespace {

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<std::string> PresetsOf(const Plan& plan, const FrameworkChoice& choice) {
  if (!plan.presets.empty()) {
    std::vector<std::string> kept;
    std::copy_if(plan.presets.begin(), plan.presets.end(), std::back_inserter(kept),
                 [&](const std::string& preset) { return Contains(choice.presets, preset); });
    return kept;
  }
  if (!plan.quick) return choice.presets;
  return {Contains(choice.presets, "recommended") ? "recommended" : choice.presets.front()};
}

Status CheckPresets(const Plan& plan, const std::vector<FrameworkChoice>& choices) {
  std::vector<std::string> known;
  for (const FrameworkChoice& choice : choices) {
    for (const std::string& preset : choice.presets) {
      if (!Contains(known, preset)) known.push_back(preset);
    }
  }
  for (const std::string& preset : plan.presets) {
    if (!Contains(known, preset)) {
      return Error(ErrorCode::kInput, fmt::format("no framework named here has the preset '{}'{}",
                                                  preset, SuggestionFor(preset, known)));
    }
  }
  return {};
}

/// Numbers equal keys equally, from 0 in order of appearance.
template <class Key>
std::size_t IndexOf(const Key& key, std::map<Key, std::size_t>& indices) {
  return indices.emplace(key, indices.size()).first->second;
}

/// Calls `body` for each combination of everything but framework and preset.
template <class Body>
void ForEachGroup(const Plan& plan, const Body& body) {
  for (const std::string& network : plan.networks) {
    for (const std::int64_t batch : plan.batches) {
      for (const int threads : plan.threads) {
        for (const std::string& mode : plan.modes) {
          for (const std::string& device : plan.devices) {
            for (const std::string& precision : plan.precisions) {
              for (const std::string& input : plan.inputs) {
                Arm arm;
                arm.network = network;
                arm.batch = batch;
                arm.threads = threads;
                arm.mode = mode;
                arm.device = device;
                arm.precision = precision;
                arm.input = input;
                body(std::move(arm));
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace

std::string Arm::Label() const {
  return fmt::format("{} {}, {}, batch {}, {} thread{}", installation.id, preset, network, batch,
                     threads, threads == 1 ? "" : "s");
}

Result<std::vector<Arm>> MakeArms(const Plan& plan, const std::vector<FrameworkChoice>& choices) {
  DLBENCH_RETURN_IF_ERROR(CheckPresets(plan, choices));
  std::vector<Arm> arms;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> cases;
  std::size_t groups = 0;
  ForEachGroup(plan, [&](Arm group) {
    group.case_index = IndexOf({group.network, group.batch}, cases);
    group.group_index = groups++;
    for (const FrameworkChoice& choice : choices) {
      for (const std::string& preset : PresetsOf(plan, choice)) {
        Arm arm = group;
        arm.installation = choice.installation;
        arm.preset = preset;
        arms.push_back(std::move(arm));
      }
    }
  });
  return arms;
}

}  // namespace dlbench::experiment
