#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace dlbench::experiment {

/// What to measure: lists on the axes make a grid. The same from the command line and from a file.
struct Plan {
  std::string name;                     ///< Of the experiment file; empty from the command line.
  std::vector<std::string> networks;    ///< Names or paths.
  std::vector<std::string> frameworks;  ///< "NAME" or "NAME@VERSION", in the user's order.
  std::vector<std::string> presets;     ///< Empty: all that each framework offers.
  std::vector<std::int64_t> batches{64};
  std::vector<int> threads;  ///< Empty: as many as may really be used here.
  std::vector<std::string> modes{"train"};
  std::vector<std::string> devices{"cpu"};
  std::vector<std::string> precisions{"float32"};
  std::vector<std::string> inputs{"resident"};
  std::map<std::string, std::string> settings;  ///< Passed to every adapter.
  std::string data;                             ///< "", "synthetic", or a folder or text file.
  std::uint64_t seed = 1;
  std::int64_t rounds = 10;
  double warmup_seconds = 1.0;
  double launch_seconds = 2.0;  ///< Timed length of a launch after warm-up.
  double margin = 0.05;         ///< Practical margin of comparisons.
  bool quick = false;           ///< 6 rounds, one preset a framework, no verdict.
  std::uint64_t memory_limit_bytes =
      0;  ///< Of a worker; 0: nine tenths of what the machine allows.
};

/// Numbers of the quick look (decision 15): 6 rounds, half a second of warm-up, one second timed.
void MakeQuick(Plan& plan);

/// Parses an experiment file (TOML). Errors read "FILE:LINE:COLUMN: what; what to do".
Result<Plan> ParsePlan(std::string_view text, const std::string& file_name);
Result<Plan> LoadPlan(const std::filesystem::path& path);

/// Checks ranges: at least one network and framework, batches and threads positive, rounds
/// in 1..1000, times within (0, 3600], no value twice on an axis.
Status CheckPlan(const Plan& plan);

/// The plan as canonical JSON text; equal plans give equal text (the identity for --resume).
std::string ToJson(const Plan& plan);

}  // namespace dlbench::experiment
