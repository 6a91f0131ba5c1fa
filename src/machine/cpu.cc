#include "machine/cpu.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/file.h"
#include "core/text.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace dlbench::machine {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxCpu = 1'000'000;  // Far above any kernel's NR_CPUS; bounds what a bad file costs.

Error BadList(std::string_view text) {
  return {ErrorCode::kInput, "'" + Printable(text.substr(0, 60)) + "' is not a list of CPUs"};
}

std::vector<fs::path> SortedChildren(const fs::path& folder) {
  std::vector<fs::path> children;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    children.push_back(it->path());
  }
  std::sort(children.begin(), children.end());
  return children;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// Names of hypervisors by a piece of lower-case text that they leave in DMI or CPUID.
std::optional<std::string> KnownHypervisor(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kNames{
      {{"kvm", "kvm"},
       {"qemu", "kvm"},
       {"vmware", "vmware"},
       {"virtualbox", "virtualbox"},
       {"innotek", "virtualbox"},
       {"xen", "xen"},
       {"microsoft", "hyper-v"},
       {"amazon ec2", "amazon"},
       {"google compute", "google"},
       {"firecracker", "kvm"},
       {"bhyve", "bhyve"},
       {"parallels", "parallels"},
       {"prl hyperv", "parallels"},
       {"acrnacrn", "acrn"}}};
  const std::string lower = Lower(text);
  for (const auto& [piece, name] : kNames) {
    if (lower.find(piece) != std::string::npos) return std::string(name);
  }
  return std::nullopt;
}

/// The hypervisor's own name by CPUID leaf 0x40000000 (a convention that all of them follow).
std::string CpuidHypervisor() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned eax = 0;
  std::array<unsigned, 3> name{};
  if (__get_cpuid(1, &eax, &name[0], &name[1], &name[2]) == 0 || (name[1] & (1U << 31)) == 0) {
    return "";
  }
  __cpuid(0x40000000U, eax, name[0], name[1], name[2]);
  std::string text;
  for (const unsigned word : name) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>((word >> shift) & 0xFFU);
      if (c != 0) text.push_back(c);
    }
  }
  return text;
#else
  return "";
#endif
}

}  // namespace

std::optional<std::string> ReadLine(const fs::path& path) {
  const Result<std::string> content = ReadFile(path, 1U << 20);
  if (!content.ok()) return std::nullopt;
  const std::string_view text = *content;
  const std::string_view line = Trim(text.substr(0, text.find('\n')));
  if (line.empty()) return std::nullopt;
  return std::string(line);
}

Result<std::vector<int>> ParseCpuList(std::string_view text) {
  std::set<int> cpus;
  if (Trim(text).empty()) return std::vector<int>{};
  for (const std::string& piece : Split(Trim(text), ',')) {
    const std::size_t dash = piece.find('-');
    const auto first = ParseInt(piece.substr(0, dash));
    const auto last = dash == std::string::npos ? first : ParseInt(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpu) return BadList(text);
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.insert(static_cast<int>(cpu));
  }
  return std::vector<int>(cpus.begin(), cpus.end());
}

bool CpuInfo::Has(std::string_view flag) const {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

CpuInfo ParseCpuInfo(std::string_view text) {
  CpuInfo info;
  for (const std::string& line : Split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      // A blank line ends the first processor; ARM kernels name the model after the last.
      continue;
    }
    const std::string key = Lower(Trim(std::string_view(line).substr(0, colon)));
    const std::string value(Trim(std::string_view(line).substr(colon + 1)));
    const auto keep = [&](std::string& field) {
      if (field.empty()) field = value;
    };
    if (key == "vendor_id" || key == "cpu implementer") keep(info.vendor);
    if (key == "model name" || key == "hardware") keep(info.model);
    if ((key == "flags" || key == "features") && info.flags.empty()) {
      for (std::string& flag : Split(value, ' ')) {
        if (!flag.empty()) info.flags.push_back(std::move(flag));
      }
    }
  }
  return info;
}

std::vector<std::string> IsaOf(const CpuInfo& info) {
  static constexpr std::array<std::string_view, 22> kMatter{
      "sse4_2",   "avx",      "fma",         "avx2",        "avx_vnni",    "avx512f",
      "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
      "amx_bf16", "amx_int8", "asimd",       "asimdhp",     "asimddp",     "sve",
      "sve2",     "bf16",     "i8mm",        "asimdfhm"};
  std::vector<std::string> isa;
  for (const std::string_view flag : kMatter) {
    if (info.Has(flag)) isa.emplace_back(flag);
  }
  return isa;
}

std::optional<std::string> ReadGovernor(const fs::path& root) {
  std::set<std::string> governors;
  for (const fs::path& cpu : SortedChildren(root / "sys/devices/system/cpu")) {
    if (!cpu.filename().string().starts_with("cpu")) continue;
    if (auto governor = ReadLine(cpu / "cpufreq/scaling_governor")) governors.insert(*governor);
  }
  if (governors.empty()) return std::nullopt;
  return Join({governors.begin(), governors.end()}, ", ");
}

std::optional<bool> ReadBoost(const fs::path& root) {
  const fs::path cpu = root / "sys/devices/system/cpu";
  if (const auto boost = ReadLine(cpu / "cpufreq/boost")) return *boost != "0";
  if (const auto no_turbo = ReadLine(cpu / "intel_pstate/no_turbo")) return *no_turbo == "0";
  return std::nullopt;
}

std::optional<std::string> ReadVirtualization(const fs::path& root, const CpuInfo& info,
                                              std::string_view kernel) {
  if (Lower(kernel).find("microsoft") != std::string::npos) return "wsl";
  const bool x86 = info.Has("fpu");
  if (x86 && !info.Has("hypervisor")) return "none";
  std::string names = root == "/" ? CpuidHypervisor() : "";
  for (const char* file : {"sys_vendor", "product_name", "board_vendor", "bios_vendor"}) {
    names += " " + ReadLine(root / "sys/class/dmi/id" / file).value_or("");
  }
  if (auto known = KnownHypervisor(names)) return known;
  if (x86) return "unnamed";
  return std::nullopt;  // Without x86's flag a silent firmware proves nothing.
}

std::vector<std::string> ReadUnavailable(const fs::path& root) {
  std::vector<std::string> missing;
  std::error_code error;
  const auto exists = [&](const char* path) { return fs::exists(root / path, error); };
  if (!ReadGovernor(root)) missing.emplace_back("clock frequency and governor (no cpufreq)");
  if (!exists("sys/class/powercap/intel-rapl:0") && !exists("sys/class/powercap/intel-rapl")) {
    missing.emplace_back("energy counters (no powercap)");
  }
  const auto sources = SortedChildren(root / "sys/bus/event_source/devices");
  const bool counters = std::any_of(sources.begin(), sources.end(), [](const fs::path& source) {
    const std::string name = source.filename();
    return name.starts_with("cpu") || name.starts_with("armv");
  });
  if (!counters) missing.emplace_back("hardware cycle counters (no perf events of the processor)");
  return missing;
}

}  // namespace dlbench::machine
