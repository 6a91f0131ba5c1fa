#pragma once

#include <vector>

#include "machine/machine.h"

namespace dlbench::machine {

/// NVIDIA GPUs that the driver shows, through `library` (loaded when called); none without a
/// driver.
std::vector<Gpu> ReadGpus(const char* library = "libnvidia-ml.so.1");

}  // namespace dlbench::machine
