#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace dlbench::machine {

struct Cache {
  int level = 0;
  std::string type;  ///< "data", "instruction", "unified".
  std::uint64_t bytes = 0;
  int shared_by = 0;  ///< Processing units that share it.
  int instances = 0;
};

struct Gpu {
  std::string name;
  std::string driver;  ///< Version as text.
  std::uint64_t memory_bytes = 0;
};

/// What the machine is. Absent means unknown, never zero.
struct Machine {
  std::string host_name;  ///< All texts here are valid UTF-8: bad bytes are written "\xff".
  std::string cpu_model;
  std::string cpu_vendor;
  std::vector<std::string> isa;  ///< "avx2", "avx512f", "amx_tile" ... that matter to frameworks.
  int packages = 0, cores = 0, processing_units = 0;
  bool smt = false;
  bool hybrid = false;  ///< Two kinds of core (Intel's performance and efficient cores).
  int numa_nodes = 0;   ///< Nodes that have processing units.
  std::vector<Cache> caches;
  std::vector<int> affinity;               ///< CPUs that this process may use.
  std::optional<double> cgroup_cpu_quota;  ///< CPUs' worth of time; absent: no limit.
  std::optional<std::uint64_t> cgroup_memory_bytes;
  int usable_threads = 1;  ///< min(quota rounded down, affinity, cores), at least 1.
  /// CPUs to run on unless the user says otherwise: those allowed, of one kind of core, of one NUMA
  /// node. Empty only where nothing is known.
  std::vector<int> default_cpus;
  int default_threads = 1;          ///< usable_threads within default_cpus.
  std::optional<int> default_node;  ///< The NUMA node of default_cpus, where there are several.
  std::optional<std::uint64_t> throttled_periods;  ///< Of the CPU quota, since the group was made.
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string os;
  std::optional<std::string> governor;
  std::optional<bool> boost;
  std::optional<std::string> virtualization;  ///< "kvm", "wsl", "none"; absent: unknown.
  std::vector<std::string> unavailable;       ///< Readings that this machine does not offer.
  std::vector<Gpu> gpus;
  std::map<std::string, std::string>
      relevant_environment;  ///< OMP_*, MKL_*, ... from an allow-list.
  std::vector<std::string> warnings;
};

/// Reads the machine. `root` is put before /sys, /proc and the cgroup mount (for tests); "/"
/// normally.
Machine Detect(const std::filesystem::path& root = "/");
/// How often the CPU quota has stopped this process's group so far; absent: no such counter. A rise
/// during a run marks it throttled.
std::optional<std::uint64_t> ThrottledPeriods(const std::filesystem::path& root = "/");
/// A stable hash (hex) of what results depend on: CPU, caches, memory, kernel, quota.
std::string Fingerprint(const Machine& machine);
/// The machine as JSON text (docs/results.md, "machine").
std::string ToJson(const Machine& machine);

/// A measured upper bound, the best of several runs.
struct Peak {
  std::string what;  ///< "fma_float32", "gemm_float32", "bandwidth" ...
  int threads = 1;
  double per_second = 0;   ///< Floating-point operations, or bytes for bandwidth, per second.
  std::string how;         ///< Kernel and shape that gave it: "onednn 4096x4096x4096".
  bool disturbed = false;  ///< Other processes took CPU meanwhile: not to be used as a bound.
};

struct PeakOptions {
  std::vector<int> threads{1};
  double seconds_each = 0.3;
};
/// Measures register-only multiply-add ("fma_float32", "fma_float64"), GEMM ("gemm_float32",
/// "gemm_float64", several shapes and libraries) and memory bandwidth ("bandwidth"). The work is
/// done in a child process, so that no OpenMP runtime is loaded into this one (with OMP_PROC_BIND
/// set it would narrow the CPUs of all that this process starts). Empty where the child failed.
std::vector<Peak> MeasurePeaks(const PeakOptions& options);
/// MeasurePeaks through a cache file keyed by the machine's fingerprint (an hour old at most where
/// disturbed). A cache that cannot be read or written is as good as none.
std::vector<Peak> CachedPeaks(const Machine& machine, const PeakOptions& options,
                              const std::filesystem::path& cache_folder);
/// The undisturbed peak `what` at `threads`, if measured.
std::optional<double> FindPeak(const std::vector<Peak>& peaks, const std::string& what,
                               int threads);

/// One thing that `dlbench doctor` found.
struct Finding {
  enum class Severity { kOk, kWarning, kProblem };
  Severity severity = Severity::kOk;
  std::string what;     ///< "python3-venv is missing".
  std::string command;  ///< The exact command that mends it; empty where there is none.
};
/// Checks compilers, headers, Python, data sets, disk space, settings that slow things down.
std::vector<Finding> Diagnose(const Machine& machine, const std::filesystem::path& root = "/");

}  // namespace dlbench::machine
