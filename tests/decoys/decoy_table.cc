// Runs every decoy and prints docs/decoys.md (tools/decoy_table.sh); fails if one is not caught.

#include <fmt/format.h>

#include <filesystem>
#include <string>

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
    if (caught.check.empty() && info.name != "extra_thread") ++missed;
    fmt::print("| {} | {} | {}{} | {} | {} |\n", info.name, info.what,
               caught.check.empty() ? "**nothing**" : caught.check,
               caught.moment.empty() ? "" : ", " + caught.moment, Cell(caught.reason),
               Cell(caught.diagnosis));
  }
  return missed == 0 ? 0 : 1;
}
