#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/file.h"
#include "core/text.h"
#include "machine/cgroup.h"
#include "machine/cpu.h"
#include "machine/environment.h"
#include "machine/gpu.h"
#include "machine/machine.h"
#include "machine/topology.h"

namespace dlbench::machine {
namespace {

namespace fs = std::filesystem;

/// `text` as valid UTF-8; a replaced byte is worth a note, since names are compared later.
std::string Clean(const std::string& text, const char* what, std::vector<std::string>& warnings) {
  std::string clean = SanitizeUtf8(text);
  if (clean != text) {
    warnings.push_back(std::string("the ") + what +
                       " is not valid UTF-8; bad bytes are shown as '\\x..'");
  }
  return clean;
}

/// A "Key:   value" line of a file of /proc.
std::optional<std::string> ValueOf(const fs::path& file, std::string_view key) {
  const Result<std::string> content = ReadFile(file);
  if (!content.ok()) return std::nullopt;
  for (const std::string& line : Split(*content, '\n')) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':') {
      return std::string(Trim(std::string_view(line).substr(key.size() + 1)));
    }
  }
  return std::nullopt;
}

std::uint64_t ReadMemory(const fs::path& root) {
  const auto text = ValueOf(root / "proc/meminfo", "MemTotal");  // "24000000 kB"
  if (!text) return 0;
  const auto kilobytes = ParseInt(text->substr(0, text->find(' ')));
  return kilobytes && *kilobytes > 0 ? static_cast<std::uint64_t>(*kilobytes) * 1024 : 0;
}

std::string ReadOsName(const fs::path& root) {
  for (const char* file : {"etc/os-release", "usr/lib/os-release"}) {
    const Result<std::string> content = ReadFile(root / file, 1U << 16);
    if (!content.ok()) continue;
    for (const std::string& line : Split(*content, '\n')) {
      constexpr std::string_view kKey = "PRETTY_NAME=";
      if (!line.starts_with(kKey)) continue;
      std::string name(Trim(std::string_view(line).substr(kKey.size())));
      std::erase(name, '"');
      return name;
    }
  }
  return "";
}

std::set<int> ReadList(const fs::path& file, std::vector<std::string>& warnings) {
  const auto text = ReadLine(file);
  if (!text) return {};
  const auto list = ParseCpuList(*text);
  if (!list.ok()) {
    warnings.push_back("'" + Printable(file.string()) + "': " + list.error().message());
    return {};
  }
  return {list->begin(), list->end()};
}

std::vector<int> ReadAffinity(const fs::path& root, const Topology& topology,
                              std::vector<std::string>& warnings) {
  if (const auto text = ValueOf(root / "proc/self/status", "Cpus_allowed_list")) {
    const auto list = ParseCpuList(*text);
    if (!list.ok()) {
      warnings.push_back("the CPUs of this process: " + list.error().message());
    } else if (!list->empty()) {
      std::vector<int> online;
      for (const ProcessingUnit& unit : topology.units) {
        if (std::binary_search(list->begin(), list->end(), unit.cpu)) online.push_back(unit.cpu);
      }
      if (!online.empty()) return online;
    }
  }
  std::vector<int> all;
  for (const ProcessingUnit& unit : topology.units) all.push_back(unit.cpu);
  return all;
}

int CoresOf(const Topology& topology, const std::vector<int>& cpus) {
  std::set<int> cores;
  for (const ProcessingUnit& unit : topology.units) {
    if (std::binary_search(cpus.begin(), cpus.end(), unit.cpu)) cores.insert(unit.core);
  }
  return static_cast<int>(cores.size());
}

/// min(quota rounded down, CPUs, their cores), at least 1.
int ThreadsFor(const Topology& topology, const std::vector<int>& cpus,
               const std::optional<double>& quota) {
  int threads = static_cast<int>(cpus.size());
  if (const int cores = CoresOf(topology, cpus); cores > 0) threads = std::min(threads, cores);
  if (quota && *quota < threads) threads = static_cast<int>(std::floor(*quota));
  return std::max(1, threads);
}

/// The allowed CPUs of the kind that a parallel step should run on: the fast ones where there are
/// two kinds, else all.
std::vector<int> OneKind(const fs::path& root, Machine& machine) {
  const auto fast = ReadList(root / "sys/devices/cpu_core/cpus", machine.warnings);
  const auto slow = ReadList(root / "sys/devices/cpu_atom/cpus", machine.warnings);
  machine.hybrid = !fast.empty() && !slow.empty();
  if (!machine.hybrid) return machine.affinity;
  std::vector<int> chosen;
  for (const int cpu : machine.affinity) {
    if (fast.count(cpu) != 0) chosen.push_back(cpu);
  }
  return chosen.empty() ? machine.affinity : chosen;
}

/// Those of `cpus` on the node that has most of them; sets machine.default_node where nodes differ.
std::vector<int> OneNode(const Topology& topology, const std::vector<int>& cpus, Machine& machine) {
  std::map<int, std::vector<int>> by_node;
  for (const ProcessingUnit& unit : topology.units) {
    if (std::binary_search(cpus.begin(), cpus.end(), unit.cpu)) {
      by_node[unit.node].push_back(unit.cpu);
    }
  }
  if (topology.numa_nodes < 2 || by_node.empty()) return cpus;
  const auto largest = std::max_element(
      by_node.begin(), by_node.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  machine.default_node = largest->first;
  return largest->second;
}

void ReadProcessors(const fs::path& root, Machine& machine) {
  const Result<std::string> text = ReadFile(root / "proc/cpuinfo");
  const CpuInfo info = ParseCpuInfo(text.ok() ? std::string_view(*text) : std::string_view());
  machine.cpu_model = Clean(info.model, "name of the processor", machine.warnings);
  machine.cpu_vendor = Clean(info.vendor, "processor's vendor", machine.warnings);
  machine.isa = IsaOf(info);
  machine.virtualization = ReadVirtualization(root, info, machine.kernel);
  machine.governor = ReadGovernor(root);
  machine.boost = ReadBoost(root);
  machine.unavailable = ReadUnavailable(root);

  const Topology topology = ReadTopology(root);
  machine.packages = topology.packages;
  machine.cores = topology.cores;
  machine.processing_units = static_cast<int>(topology.units.size());
  machine.smt = machine.processing_units > machine.cores && machine.cores > 0;
  machine.numa_nodes = topology.numa_nodes;
  machine.caches = topology.caches;
  machine.affinity = ReadAffinity(root, topology, machine.warnings);
  machine.usable_threads = ThreadsFor(topology, machine.affinity, machine.cgroup_cpu_quota);
  machine.default_cpus = OneNode(topology, OneKind(root, machine), machine);
  machine.default_threads = ThreadsFor(topology, machine.default_cpus, machine.cgroup_cpu_quota);
}

void AddWarnings(Machine& machine) {
  auto& warnings = machine.warnings;
  if (machine.governor && *machine.governor != "performance") {
    warnings.push_back("the frequency governor is '" + SanitizeUtf8(*machine.governor) +
                       "', so the clock follows the load; 'performance' gives steadier times");
  }
  if (machine.boost.value_or(false)) {
    warnings.emplace_back(
        "boost is on, so the clock depends on temperature and on how many cores are busy");
  }
  if (machine.hybrid) {
    warnings.emplace_back(
        "this processor has two kinds of core; by default only the fast ones are used");
  }
  if (machine.default_node) {
    warnings.push_back("memory is spread over " + std::to_string(machine.numa_nodes) +
                       " nodes; by default threads stay on node " +
                       std::to_string(*machine.default_node));
  }
  for (const EnvironmentWarning& warning :
       EnvironmentWarnings(machine.relevant_environment, machine.usable_threads)) {
    warnings.push_back(warning.text);
  }
}

}  // namespace

Machine Detect(const fs::path& root) {
  Machine machine;
  machine.host_name = Clean(ReadLine(root / "proc/sys/kernel/hostname").value_or(""), "host name",
                            machine.warnings);
  machine.kernel = Clean(ReadLine(root / "proc/sys/kernel/osrelease").value_or(""),
                         "kernel's release", machine.warnings);
  machine.os = Clean(ReadOsName(root), "name of the operating system", machine.warnings);
  machine.memory_bytes = ReadMemory(root);
  CgroupLimits limits = ReadCgroupLimits(root);
  machine.cgroup_cpu_quota = limits.cpus;
  if (limits.memory_bytes && *limits.memory_bytes < machine.memory_bytes) {
    machine.cgroup_memory_bytes = limits.memory_bytes;
  }
  machine.throttled_periods = limits.throttled_periods;
  for (std::string& warning : limits.warnings) machine.warnings.push_back(std::move(warning));
  machine.relevant_environment = RelevantEnvironment(ProcessEnvironment());
  if (root == "/") machine.gpus = ReadGpus();
  ReadProcessors(root, machine);
  AddWarnings(machine);
  return machine;
}

}  // namespace dlbench::machine
