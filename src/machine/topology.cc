#include "machine/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace dlbench::machine {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyPtr = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// Sets a variable and takes it back. hwloc has no call for another root, only HWLOC_FSROOT; used
/// for roots other than "/" alone.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TopologyPtr Load(const std::filesystem::path& root) {
  std::unique_ptr<ScopedVariable> other_root;
  if (root != "/") other_root = std::make_unique<ScopedVariable>("HWLOC_FSROOT", root.string());
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  TopologyPtr topology(raw);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

const char* CacheType(hwloc_obj_cache_type_t type) {
  switch (type) {
    case HWLOC_OBJ_CACHE_DATA:
      return "data";
    case HWLOC_OBJ_CACHE_INSTRUCTION:
      return "instruction";
    case HWLOC_OBJ_CACHE_UNIFIED:
      break;
  }
  return "unified";
}

std::vector<Cache> ReadCaches(hwloc_topology_t topology) {
  using Key = std::tuple<int, std::string, std::uint64_t, int>;
  std::map<Key, int> instances;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE,
                                      HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
    hwloc_obj_t cache = nullptr;
    while ((cache = hwloc_get_next_obj_by_type(topology, type, cache)) != nullptr) {
      const auto& attributes = cache->attr->cache;
      if (attributes.size == 0) continue;  // Unknown to the kernel.
      const int shared = cache->cpuset == nullptr ? 0 : hwloc_bitmap_weight(cache->cpuset);
      ++instances[{static_cast<int>(attributes.depth), CacheType(attributes.type), attributes.size,
                   shared}];
    }
  }
  std::vector<Cache> caches;
  caches.reserve(instances.size());
  for (const auto& [key, count] : instances) {
    caches.push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), count});
  }
  return caches;
}

}  // namespace

Topology ReadTopology(const std::filesystem::path& root) {
  Topology result;
  const TopologyPtr topology = Load(root);
  if (!topology) return result;
  std::set<int> nodes;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_PU, unit)) != nullptr) {
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology.get(), HWLOC_OBJ_CORE, unit);
    ProcessingUnit entry;
    entry.cpu = static_cast<int>(unit->os_index);
    entry.core = static_cast<int>(core == nullptr ? unit->logical_index : core->logical_index);
    if (unit->nodeset != nullptr) entry.node = std::max(0, hwloc_bitmap_first(unit->nodeset));
    nodes.insert(entry.node);
    result.units.push_back(entry);
  }
  std::sort(result.units.begin(), result.units.end(),
            [](const auto& a, const auto& b) { return a.cpu < b.cpu; });
  std::set<int> cores;
  for (const ProcessingUnit& entry : result.units) cores.insert(entry.core);
  result.cores = static_cast<int>(cores.size());
  result.packages = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE));
  result.numa_nodes = static_cast<int>(nodes.size());
  result.caches = ReadCaches(topology.get());
  return result;
}

}  // namespace dlbench::machine
