#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/worker.h"

namespace dlbench::worker {

/// The longest padding (see below), in bytes: a page, beyond which stack layouts repeat.
constexpr std::uint32_t kMostPadding = 4096;

/// Environment of one launch, "NAME=VALUE" each: a short list of ours taken over as it is, a fixed
/// locale, thread counts of the usual pools, the channel's descriptors, the launch's folder
/// (DLBENCH_FOLDER), its mark, a variable of `padding` bytes that moves the stack about
/// (randomised layout: Mytkowicz et al., "Producing wrong data without doing anything obviously
/// wrong", ASPLOS 2009), and on top what the launch asks for.
std::vector<std::string> LaunchEnvironment(const LaunchSpec& spec, const std::string& mark,
                                           std::uint32_t padding);

/// "DLBENCH_LAUNCH=<unique text>": processes that carry it belong to the launch.
std::string NewLaunchMark();
/// A random number of bytes in [0, kMostPadding).
std::uint32_t RandomPadding();

}  // namespace dlbench::worker
