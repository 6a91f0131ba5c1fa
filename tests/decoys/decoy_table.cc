// Runs every decoy and prints docs/decoys.md (tools/decoy_table.sh); fails if one is not caught.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/text.h"
#include "decoys.h"
#include "gate_run.h"

namespace {

constexpr const char* kHead =
    "# Decoys: planted faults and who catches them\n\n"
    "Each row is a real adapter with one planted fault (tests/decoys), launched as a campaign\n"
    "launches a framework: network decoy.toml, batch 64, synthetic data. The last two columns are\n"
    "dlbench's own words, from the run that `tools/decoy_table.sh` made. A test of every build\n"
    "demands that each decoy is caught. `extra_thread` shows only in timed launches, as processor "
    "time,\n"
    "where another core is free.\n\n"
    "| decoy | fault | caught by | reason | likely cause |\n|---|---|---|---|---|\n";

/// The reason without its figures' tail and the decoy's process details: one table cell.
std::string Cell(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '|') c = ' ';
  }
  return text;
}

/// Whether the decoy was caught by the check that is meant for it, or by an earlier one. The
/// failures of a launch (times, threads, work left over ...) have kinds of their own.
bool IsCaughtAsMeant(const dlbench::decoys::DecoyInfo& info,
                     const dlbench::decoys::Caught& caught) {
  static constexpr std::array<std::string_view, 7> kQuantities = {
      "logits", "loss", "gradient", "update", "run_loss", "run_state", "run_update"};
  if (info.check == "middle") return caught.moment == "middle";
  const auto meant = std::find(kQuantities.begin(), kQuantities.end(), info.check);
  if (meant == kQuantities.end()) return !caught.check.empty();
  return caught.moment != "middle" &&
         std::find(kQuantities.begin(), meant + 1, caught.check) != meant + 1;
}

}  // namespace

int main(int argc, char** argv) {
  using dlbench::decoys::GateRun;
  if (argc != 3) {
    fmt::print(stderr, "usage: decoy_table FOLDER DECOY_ADAPTER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  auto run =
      GateRun::Make(std::string(DLBENCH_SOURCE_DIR) + "/tests/networks/decoy.toml", 64, 1, folder);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error().message());
    return 1;
  }
  fmt::print("{}", kHead);
  int missed = 0;
  for (const auto& info : dlbench::decoys::AllDecoys()) {
    const auto caught =
        (*run)->Catch(GateRun::Adapter({argv[2]}, {{"DLBENCH_DECOY", std::string(info.name)}}), 5);
    // A thread too many shows only as processor time, and only where another core is free to give
    // it.
    if (!IsCaughtAsMeant(info, caught) && info.name != "extra_thread") {
      ++missed;
      fmt::print(stderr, "{}: expected {}, found '{}' ({})\n", info.name, info.check, caught.check,
                 caught.moment);
    }
    fmt::print("| {} | {} | {}{} | {} | {} |\n", info.name, info.what,
               caught.check.empty() ? "**nothing**" : caught.check,
               caught.moment.empty() ? "" : ", " + caught.moment, Cell(caught.reason),
               Cell(caught.diagnosis));
  }
  return missed == 0 ? 0 : 1;
}
