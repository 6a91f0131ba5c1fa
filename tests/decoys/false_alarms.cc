// Launches honest adapters as a campaign does, a gate launch and a timed launch each, and fails if
// the gate has anything against one of them. How often an honest framework is accused, and how near
// it comes to the limits, decides whether the limits can be believed (docs/equality.md).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.h"
#include "data/random.h"
#include "gate_run.h"

namespace {

using dlbench::decoys::GateRun;
namespace verify = dlbench::verify;

/// Ones, odd ones and those between two vector widths: kernels differ there.
constexpr std::array<std::int64_t, 12> kBatches = {1, 2, 3, 5, 8, 16, 31, 64, 100, 128, 256, 512};
/// Of the large network: its reference takes seconds a step.
constexpr std::array<std::int64_t, 3> kLargeBatches = {1, 16, 64};

/// A network and batch: what launches share.
struct Cell {
  std::string network;
  std::int64_t batch = 0;
  std::int64_t most_steps = 0;  ///< Of a timed run.
};

/// One adapter as it is configured; each is launched twice.
struct Pair {
  Cell cell;
  std::string adapter, preset;
  int threads = 1;
};

struct Options {
  std::filesystem::path folder, plain, onednn;
  std::int64_t launches = 200;
  std::int64_t large_launches = 0;
  std::int64_t steps = 4'000;  ///< Of a timed run of one thread; fewer of several.
  std::uint64_t seed = 1;
};

/// How near honest launches came to a limit.
struct Nearest {
  double ratio = 0.0;  ///< Error over limit, of the norm or of the worst element.
  std::string where;
};

struct Tally {
  int launches = 0, alarms = 0;
  std::int64_t checks = 0, undecidable = 0;
  std::map<std::string, Nearest> nearest;  ///< By quantity.
};

std::optional<Options> ParseOptions(int argc, char** argv) {
  Options options;
  std::vector<std::string> positional;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.substr(0, 2) != "--") {
      positional.emplace_back(word);
      continue;
    }
    const auto value = ++i < argc ? dlbench::ParseInt(argv[i]) : std::nullopt;
    if (!value || *value < 0) return std::nullopt;
    if (word == "--launches") {
      options.launches = *value;
    } else if (word == "--large-launches") {
      options.large_launches = *value;
    } else if (word == "--steps" && *value > 0) {
      options.steps = *value;
    } else if (word == "--seed") {
      options.seed = static_cast<std::uint64_t>(*value);
    } else {
      return std::nullopt;
    }
  }
  if (positional.size() != 3) return std::nullopt;
  options.folder = positional[0];
  options.plain = positional[1];
  options.onednn = positional[2];
  return options;
}

std::vector<Pair> PairsOf(const std::vector<Cell>& cells) {
  std::vector<Pair> pairs;
  for (const Cell& cell : cells) {
    for (const int threads : {1, 2}) {
      pairs.push_back({cell, "plain", "default", threads});
      pairs.push_back({cell, "onednn", "default", threads});
      pairs.push_back({cell, "onednn", "recommended", threads});
    }
  }
  return pairs;
}

std::vector<Cell> SmallCells() {
  std::vector<Cell> cells;
  for (const char* network : {"networks/fcn-tiny.toml", "tests/networks/decoy.toml"}) {
    for (const std::int64_t batch : kBatches) {
      cells.push_back({network, batch, 100'000});
    }
  }
  return cells;
}

std::vector<Cell> LargeCells() {
  std::vector<Cell> cells;
  for (const std::int64_t batch : kLargeBatches)
    cells.push_back({"networks/fcn-r.toml", batch, 20});
  return cells;
}

/// `count` of `pairs` in an order that `seed` draws; those of one cell follow one another.
std::vector<Pair> Draw(std::vector<Pair> pairs, std::size_t count, std::uint64_t seed) {
  const dlbench::data::NamedStream stream(seed, "pairs of launches");
  for (std::size_t i = pairs.size(); i > 1; --i) {
    std::swap(pairs[i - 1], pairs[stream.Below(i, i)]);
  }
  pairs.resize(std::min(count, pairs.size()));
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tie(a.cell.network, a.cell.batch) < std::tie(b.cell.network, b.cell.batch);
  });
  return pairs;
}

void Count(const verify::GateResult& gate, const std::string& where, Tally& tally) {
  for (const verify::Check& check : gate.checks) {
    ++tally.checks;
    if (!check.decidable) {
      ++tally.undecidable;
      continue;
    }
    const double ratio = std::max(check.error.norm_relative / check.norm_limit,
                                  check.error.worst_over_rms / check.worst_limit);
    Nearest& nearest = tally.nearest[verify::ToString(check.quantity)];
    if (ratio <= nearest.ratio) continue;
    nearest = {ratio, fmt::format("{}{}{}, {}, step {}", where, check.tensor.empty() ? "" : ", ",
                                  check.tensor, check.moment, check.steps)};
  }
}

void LaunchPair(GateRun& run, const Pair& pair, const Options& options, std::uint64_t seed,
                Tally& tally) {
  const std::filesystem::path& adapter = pair.adapter == "plain" ? options.plain : options.onednn;
  dlbench::decoys::LaunchOptions launch;
  launch.preset = pair.preset;
  launch.threads = pair.threads;
  launch.seed = seed;
  // Where others hold a core, several threads lose a slice of the scheduler at every barrier.
  const std::int64_t steps = pair.threads == 1 ? options.steps : options.steps / 20 + 20;
  launch.timed_steps = std::min(steps, pair.cell.most_steps);
  launch.warmup_steps = std::min<std::int64_t>(100, launch.timed_steps);
  for (const bool timed : {false, true}) {
    launch.timed = timed;
    const auto judgement = run.Launch(GateRun::Adapter({adapter.string()}), launch);
    const std::string where = fmt::format(
        "{}, batch {}, {} {}, {} thread{}, seed {}, {}",
        std::filesystem::path(pair.cell.network).stem().string(), pair.cell.batch, pair.adapter,
        pair.preset, pair.threads, pair.threads == 1 ? "" : "s", seed, timed ? "timed" : "gate");
    ++tally.launches;
    if (judgement.gate) Count(*judgement.gate, where, tally);
    const auto objection = dlbench::decoys::FirstObjection(judgement);
    if (objection.check.empty()) continue;
    ++tally.alarms;
    fmt::print("ALARM {}: {}: {}\n", where, objection.check, objection.reason);
  }
}

/// Launches all of `pairs`; false where a case cannot be made.
bool LaunchAll(const std::vector<Pair>& pairs, const Options& options, std::uint64_t seed,
               Tally& tally) {
  std::unique_ptr<GateRun> run;
  const Cell* present = nullptr;
  for (const Pair& pair : pairs) {
    if (!present || present->network != pair.cell.network || present->batch != pair.cell.batch) {
      run.reset();
      std::error_code ignored;
      std::filesystem::remove_all(options.folder, ignored);
      auto made = GateRun::Make(std::filesystem::path(DLBENCH_SOURCE_DIR) / pair.cell.network,
                                pair.cell.batch, seed, options.folder);
      if (!made.ok()) {
        fmt::print("{}, batch {}: {}\n", pair.cell.network, pair.cell.batch,
                   made.error().message());
        return false;
      }
      run = *std::move(made);
      present = &pair.cell;
    }
    LaunchPair(*run, pair, options, seed, tally);
    std::fflush(stdout);
  }
  return true;
}

/// Draws from `cells` with one seed after another until `launches` are made.
bool LaunchGrid(const std::vector<Cell>& cells, std::int64_t launches, const Options& options,
                Tally& tally) {
  const std::vector<Pair> all = PairsOf(cells);
  auto left = static_cast<std::size_t>((launches + 1) / 2);
  for (std::uint64_t seed = options.seed; left > 0; ++seed) {
    const std::vector<Pair> drawn = Draw(all, left, seed);
    if (!LaunchAll(drawn, options, seed, tally)) return false;
    left -= drawn.size();
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = ParseOptions(argc, argv);
  if (!options) {
    fmt::print(stderr,
               "usage: false_alarms FOLDER PLAIN_ADAPTER ONEDNN_ADAPTER [--launches N] "
               "[--large-launches N] [--steps N] [--seed S]\n");
    return 2;
  }
  Tally tally;
  const bool made = LaunchGrid(SmallCells(), options->launches, *options, tally) &&
                    LaunchGrid(LargeCells(), options->large_launches, *options, tally);
  for (const auto& [quantity, nearest] : tally.nearest) {
    fmt::print("{:<10} error at most {:.3f} of its limit ({})\n", quantity, nearest.ratio,
               nearest.where);
  }
  fmt::print("{} launches, {} alarms; {} checks, {} of them undecidable in float32\n",
             tally.launches, tally.alarms, tally.checks, tally.undecidable);
  std::error_code ignored;
  std::filesystem::remove_all(options->folder, ignored);
  return made && tally.alarms == 0 && tally.launches > 0 ? 0 : 1;
}
