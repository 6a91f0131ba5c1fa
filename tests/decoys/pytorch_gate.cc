// Launches the decoys of pytorch_decoys.py as a campaign launches PyTorch, prints a row of the
// table for each (docs/decoys.md) and fails if one is not caught by the check that it must fail
// first. Exits with 77, which ctest shows as skipped, where PyTorch is not installed.

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "gate_run.h"

namespace {

namespace fs = std::filesystem;
using dlbench::decoys::GateRun;

constexpr int kSkipped = 77;

struct Planted {
  const char* name;
  const char* fault;
  const char* check;  ///< That must fail first.
};

constexpr std::array<Planted, 9> kPlanted = {{
    {"bf16_autocast", "products under autocast to bfloat16", "logits"},
    {"dropout_on", "a dropout of 1 % before the last layer", "logits"},
    {"nesterov", "nesterov=True where plain momentum is asked", "update"},
    {"loss_sum", "reduction=\"sum\"", "loss"},
    {"decay_on_biases", "weight_decay on all parameters", "update"},
    {"clipped_gradients", "clip_grad_norm_ at half of the norm", "gradient"},
    {"softmax_twice", "softmax before cross_entropy", "loss"},
    {"momentum_dampened", "dampening equal to the momentum", "update"},
    {"detached_layer", "the first activation is detached", "gradient"},
}};

/// Python of the environment that `dlbench frameworks install pytorch` made, if there is one.
std::optional<fs::path> InstalledPython() {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (data != nullptr && *data != '\0') {
    folder = data;
  } else if (home != nullptr) {
    folder = fs::path(home) / ".local/share";
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "dlbench/environments", error)) {
    const fs::path python = entry.path() / "venv/bin/python";
    const bool is_pytorch = entry.path().filename().string().rfind("pytorch@", 0) == 0;
    if (is_pytorch && fs::exists(python, error)) return python;
  }
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: pytorch_gate FOLDER\n");
    return 2;
  }
  const auto python = InstalledPython();
  if (!python) {
    fmt::print("skipped: PyTorch is not installed (dlbench frameworks install pytorch)\n");
    return kSkipped;
  }
  const fs::path source = DLBENCH_SOURCE_DIR;
  auto run = GateRun::Make(source / "tests/networks/decoy.toml", 64, 1, argv[1]);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error().message());
    return 1;
  }
  const auto launch = [&](const std::string& decoy) {
    const auto adapter = GateRun::Adapter(
        {python->string(), (source / "tests/decoys/pytorch_decoys.py").string()},
        {{"DLBENCH_DECOY", decoy}, {"OMP_NUM_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}});
    return dlbench::decoys::FirstObjection((*run)->Launch(adapter, {}));
  };
  int wrong = 0;
  if (const auto honest = launch(""); !honest.check.empty()) {
    fmt::print(stderr, "without a fault: {}: {}\n", honest.check, honest.reason);
    ++wrong;
  }
  for (const Planted& planted : kPlanted) {
    const auto caught = launch(planted.name);
    if (caught.check != planted.check) {
      fmt::print(stderr, "{} must be caught by {}\n", planted.name, planted.check);
      ++wrong;
    }
    fmt::print("| PyTorch: {} | {} | {}{} | {} | {} |\n", planted.name, planted.fault,
               caught.check.empty() ? "**nothing**" : caught.check,
               caught.moment.empty() ? "" : ", " + caught.moment, caught.reason, caught.diagnosis);
  }
  return wrong == 0 ? 0 : 1;
}
