#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace dlbench::experiment {

/// The machine as JSON with its measured peaks under "peaks": what a campaign stores.
std::string MachineRecord(const machine::Machine& machine, const std::vector<machine::Peak>& peaks);
/// The peaks of a stored record; none where there are none.
std::vector<machine::Peak> PeaksOf(const std::string& machine_record);
/// One line for a person: processor, threads, memory, system.
std::string MachineLine(const std::string& machine_record);

}  // namespace dlbench::experiment
