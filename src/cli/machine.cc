#include "machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/file.h"
#include "core/text.h"
#include "machine/version.h"

namespace dlbench::cli {
namespace {

using Json = nlohmann::ordered_json;
using machine::Machine;
using machine::Peak;

struct Options {
  std::string format = "table";
  bool peaks = false;
  std::vector<int> threads;
};

std::string Bytes(std::uint64_t bytes) {
  constexpr double kKiB = 1024.0;
  const auto value = static_cast<double>(bytes);
  if (bytes == 0) return "unknown";
  if (value < kKiB * kKiB) return fmt::format("{:.0f} KiB", value / kKiB);
  if (value < kKiB * kKiB * kKiB) return fmt::format("{:.1f} MiB", value / kKiB / kKiB);
  return fmt::format("{:.1f} GiB", value / kKiB / kKiB / kKiB);
}

std::string OrUnknown(const std::string& text) { return text.empty() ? "unknown" : text; }

/// {0,1,2,5} as "0-2,5".
std::string CpuList(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += std::to_string(cpus[i]);
    if (last > i) text += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return OrUnknown(text);
}

/// Prints "name  value" lines.
class Table {
 public:
  explicit Table(std::ostream& out) : out_(out) {}
  void Row(const std::string& name, const std::string& value) {
    out_ << fmt::format("{:<16}{}\n", name, Printable(value));
  }

 private:
  std::ostream& out_;
};

std::string CacheText(const machine::Cache& cache) {
  return fmt::format("L{} {}: {} x {}, shared by {}", cache.level, cache.type, cache.instances,
                     Bytes(cache.bytes), cache.shared_by);
}

void PrintLimits(Table& table, const Machine& m) {
  table.Row("CPUs allowed", CpuList(m.affinity));
  table.Row("CPU quota", m.cgroup_cpu_quota ? fmt::format("{:.2f} CPUs", *m.cgroup_cpu_quota)
                                            : std::string("none"));
  table.Row("threads", fmt::format("{} usable, {} by default on CPUs {}", m.usable_threads,
                                   m.default_threads, CpuList(m.default_cpus)));
  table.Row("memory", Bytes(m.memory_bytes) + (m.cgroup_memory_bytes
                                                   ? ", limited to " + Bytes(*m.cgroup_memory_bytes)
                                                   : std::string()));
}

void PrintTable(std::ostream& out, const Machine& m) {
  Table table(out);
  table.Row("host", OrUnknown(m.host_name));
  table.Row("system", OrUnknown(m.os) + ", kernel " + OrUnknown(m.kernel));
  table.Row("virtualization", m.virtualization.value_or("unknown"));
  table.Row("processor", OrUnknown(m.cpu_model) + " (" + OrUnknown(m.cpu_vendor) + ")");
  table.Row("instructions", OrUnknown(Join(m.isa, " ")));
  table.Row("topology",
            fmt::format("{} package(s), {} core(s), {} processing unit(s), {} NUMA node(s){}",
                        m.packages, m.cores, m.processing_units, m.numa_nodes,
                        m.hybrid ? ", two kinds of core" : ""));
  for (std::size_t i = 0; i < m.caches.size(); ++i) {
    table.Row(i == 0 ? "caches" : "", CacheText(m.caches[i]));
  }
  PrintLimits(table, m);
  const char* boost = !m.boost ? "unknown" : *m.boost ? "on" : "off";
  table.Row("clock", "governor " + m.governor.value_or("unknown") + ", boost " + boost);
  if (m.gpus.empty()) table.Row("GPUs", "none");
  for (const machine::Gpu& gpu : m.gpus) {
    table.Row("GPU", OrUnknown(gpu.name) + ", " + Bytes(gpu.memory_bytes) + ", driver " +
                         std::string(machine::ShownVersion(gpu.driver)));
  }
  for (const auto& [name, value] : m.relevant_environment) {
    table.Row("environment", name + "=" + value);
  }
  for (const std::string& missing : m.unavailable) table.Row("not available", missing);
  table.Row("fingerprint", machine::Fingerprint(m));
  for (const std::string& warning : m.warnings) table.Row("warning", warning);
}

void PrintPeaks(std::ostream& out, const std::vector<Peak>& peaks) {
  out << fmt::format("\n{:<14}{:>8}{:>18}  {}\n", "peak", "threads", "rate", "how");
  for (const Peak& peak : peaks) {
    const char* unit = peak.what == "bandwidth" ? "GB/s" : "GFLOP/s";
    out << fmt::format("{:<14}{:>8}{:>10.1f} {:<7}  {}{}\n", peak.what, peak.threads,
                       peak.per_second / 1e9, unit, Printable(peak.how),
                       peak.disturbed ? "  (disturbed: not used as a bound)" : "");
  }
}

void PrintJson(std::ostream& out, const Machine& m, const std::vector<Peak>* peaks) {
  Json json = Json::parse(machine::ToJson(m));
  if (peaks != nullptr) {
    json["peaks"] = Json::array();
    for (const Peak& peak : *peaks) {
      json["peaks"].push_back({{"what", peak.what},
                               {"threads", peak.threads},
                               {"per_second", peak.per_second},
                               {"how", peak.how},
                               {"disturbed", peak.disturbed}});
    }
  }
  out << json.dump(2) << '\n';
}

void Run(Context& context, Options options) {
  const Machine m = machine::Detect();
  std::vector<Peak> peaks;
  if (options.peaks) {
    if (options.threads.empty()) {
      options.threads = {1};
      if (m.usable_threads > 1) options.threads.push_back(m.usable_threads);
    }
    for (const int threads : options.threads) {
      if (threads < 1 || threads > m.usable_threads) {
        return Fail(context, Error(ErrorCode::kUsage,
                                   fmt::format("--threads {}: this machine can use 1 to {}",
                                               threads, m.usable_threads)));
      }
    }
    *context.err << "measuring peaks, a few seconds ...\n";
    peaks = machine::CachedPeaks(m, {options.threads, 0.3}, CacheHome());
    if (peaks.empty()) {
      return Fail(context, Error(ErrorCode::kFailed, "the peaks could not be measured"));
    }
  }
  if (options.format == "json") return PrintJson(*context.out, m, options.peaks ? &peaks : nullptr);
  PrintTable(*context.out, m);
  if (options.peaks) PrintPeaks(*context.out, peaks);
}

}  // namespace

void AddMachineCommand(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("machine", "Show what this machine is and what limits this process");
  auto options = std::make_shared<Options>();
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  auto* peaks =
      command->add_flag("--peaks", options->peaks,
                        "Measure arithmetic and memory peaks, or show those measured before");
  command->add_option("--threads", options->threads, "Thread counts for --peaks, as 1,2")
      ->delimiter(',')
      ->needs(peaks);
  command->callback([&context, options] { Run(context, *options); });
}

}  // namespace dlbench::cli
