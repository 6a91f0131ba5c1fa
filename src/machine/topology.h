#pragma once

#include <filesystem>
#include <vector>

#include "machine/machine.h"

namespace dlbench::machine {

/// One logical CPU.
struct ProcessingUnit {
  int cpu = 0;   ///< The kernel's number.
  int core = 0;  ///< Index of its core, unique on the machine.
  int node = 0;  ///< The kernel's number of its NUMA node.
};

/// Processors and caches as hwloc sees them.
struct Topology {
  int packages = 0;
  int cores = 0;
  int numa_nodes = 0;  ///< Nodes that have processing units.
  std::vector<ProcessingUnit> units;
  std::vector<Cache> caches;  ///< Equal ones are counted once, by level.
};
/// Reads the topology under `root` through hwloc; all CPUs that are online, whatever this process
/// may use. Empty (no units) where hwloc fails.
Topology ReadTopology(const std::filesystem::path& root);

}  // namespace dlbench::machine
