#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "machine/machine.h"
#include "machine/version.h"

namespace dlbench::machine {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json Optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Empty text means unknown.
Json Text(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// Zero means unknown.
Json Count(std::uint64_t count) { return count == 0 ? Json(nullptr) : Json(count); }
Json Count(int count) { return count == 0 ? Json(nullptr) : Json(count); }

Json CachesOf(const Machine& machine) {
  Json caches = Json::array();
  for (const Cache& cache : machine.caches) {
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"bytes", cache.bytes},
                      {"shared_by", cache.shared_by},
                      {"instances", cache.instances}});
  }
  return caches;
}

Json GpusOf(const Machine& machine) {
  Json gpus = Json::array();
  for (const Gpu& gpu : machine.gpus) {
    gpus.push_back({{"name", Text(gpu.name)},
                    {"driver", std::string(ShownVersion(gpu.driver))},
                    {"memory_bytes", Count(gpu.memory_bytes)}});
  }
  return gpus;
}

}  // namespace

std::string ToJson(const Machine& machine) {
  const Json json = {{"fingerprint", Fingerprint(machine)},
                     {"host_name", Text(machine.host_name)},
                     {"cpu_model", Text(machine.cpu_model)},
                     {"cpu_vendor", Text(machine.cpu_vendor)},
                     {"isa", machine.isa},
                     {"packages", Count(machine.packages)},
                     {"cores", Count(machine.cores)},
                     {"processing_units", Count(machine.processing_units)},
                     {"smt", machine.smt},
                     {"hybrid", machine.hybrid},
                     {"numa_nodes", Count(machine.numa_nodes)},
                     {"caches", CachesOf(machine)},
                     {"affinity", machine.affinity},
                     {"cgroup_cpu_quota", Optional(machine.cgroup_cpu_quota)},
                     {"cgroup_memory_bytes", Optional(machine.cgroup_memory_bytes)},
                     {"usable_threads", machine.usable_threads},
                     {"default_cpus", machine.default_cpus},
                     {"default_threads", machine.default_threads},
                     {"default_node", Optional(machine.default_node)},
                     {"throttled_periods", Optional(machine.throttled_periods)},
                     {"memory_bytes", Count(machine.memory_bytes)},
                     {"kernel", Text(machine.kernel)},
                     {"os", Text(machine.os)},
                     {"governor", Optional(machine.governor)},
                     {"boost", Optional(machine.boost)},
                     {"virtualization", Optional(machine.virtualization)},
                     {"unavailable", machine.unavailable},
                     {"gpus", GpusOf(machine)},
                     {"relevant_environment", machine.relevant_environment},
                     {"warnings", machine.warnings}};
  // Texts are made valid when they are read; "replace" keeps a record even if one slips through.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string Fingerprint(const Machine& machine) {
  std::string text = machine.cpu_vendor + "|" + machine.cpu_model + "|" + Join(machine.isa, ",");
  text += fmt::format("|{}|{}|{}|{}", machine.packages, machine.cores, machine.processing_units,
                      machine.numa_nodes);
  for (const Cache& cache : machine.caches) {
    text += fmt::format("|L{}{}:{}x{}", cache.level, cache.type, cache.bytes, cache.instances);
  }
  // The kernel keeps a little memory for itself, not the same after every boot.
  constexpr std::uint64_t kGrain = 1ULL << 28;
  text += fmt::format("|{}|{}", (machine.memory_bytes + kGrain / 2) / kGrain, machine.kernel);
  if (machine.cgroup_cpu_quota) text += fmt::format("|quota {:.3f}", *machine.cgroup_cpu_quota);
  // FNV-1a, 64 bits (the authors' reference constants).
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace dlbench::machine
