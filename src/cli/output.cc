#include "cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ostream>

namespace dlbench::cli {

int TerminalWidth(int descriptor) {
  winsize size{};
  const bool known = ::isatty(descriptor) != 0 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return known ? static_cast<int>(size.ws_col) : 0;
}

void WriteReport(Context& context, const report::Report& report, report::Format format) {
  const int width = TerminalWidth(STDOUT_FILENO);
  const bool color = width > 0 && std::getenv("NO_COLOR") == nullptr;
  *context.out << report::Render(report, format, width, color);
}

std::string DescribePlan(const experiment::Plan& plan, bool verify_only) {
  const experiment::Plan defaults;
  std::string line = fmt::format("dlbench {} {} --frameworks {} --batch {} --threads {}",
                                 verify_only ? "verify" : "run", fmt::join(plan.networks, ","),
                                 fmt::join(plan.frameworks, ","), fmt::join(plan.batches, ","),
                                 fmt::join(plan.threads, ","));
  if (!plan.presets.empty()) line += fmt::format(" --presets {}", fmt::join(plan.presets, ","));
  if (!plan.data.empty()) line += fmt::format(" --data '{}'", plan.data);
  if (plan.seed != defaults.seed) line += fmt::format(" --seed {}", plan.seed);
  const auto add_axis = [&](const char* option, const auto& values, const auto& usual) {
    if (values != usual) line += fmt::format(" {} {}", option, fmt::join(values, ","));
  };
  add_axis("--mode", plan.modes, defaults.modes);
  add_axis("--device", plan.devices, defaults.devices);
  add_axis("--precision", plan.precisions, defaults.precisions);
  add_axis("--input", plan.inputs, defaults.inputs);
  for (const auto& [name, value] : plan.settings) {
    line += fmt::format(" --set '{}={}'", name, value);
  }
  if (verify_only) return line;
  experiment::Plan usual;
  if (plan.quick) {
    experiment::MakeQuick(usual);
    line += " --quick";
  }
  if (plan.rounds != usual.rounds) line += fmt::format(" --rounds {}", plan.rounds);
  if (plan.warmup_seconds != usual.warmup_seconds) {
    line += fmt::format(" --warmup-seconds {}", plan.warmup_seconds);
  }
  if (plan.launch_seconds != usual.launch_seconds) {
    line += fmt::format(" --launch-seconds {}", plan.launch_seconds);
  }
  if (plan.margin != usual.margin) line += fmt::format(" --margin {}", plan.margin);
  return line;
}

}  // namespace dlbench::cli
