#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "experiment/inputs.h"
#include "experiment/judge.h"
#include "experiment/launcher.h"
#include "frameworks/frameworks.h"

namespace dlbench::decoys {

/// Why a launch was not accepted.
struct Caught {
  std::string check;      ///< First failed quantity, or the kind of failure; empty if accepted.
  std::string moment;     ///< Of the failed check.
  std::string reason;     ///< As dlbench words it.
  std::string diagnosis;  ///< Empty where there is none.
};

/// What varies between launches of one case.
struct LaunchOptions {
  std::string preset = "default";
  int threads = 1;
  std::uint64_t seed = 1;  ///< Of the numbers of checked steps.
  bool timed = false;      ///< A timed launch instead of a gate launch.
  /// Of a timed launch. Fault-free steps of the test networks take about 50 us: long enough for
  /// processor time to show above the slack that short runs are given.
  std::int64_t warmup_steps = 100, timed_steps = 20'000;
};

/// Real launches of one network and batch with synthetic data, judged as a campaign judges them.
class GateRun {
 public:
  /// Files are written below `folder`.
  static Result<std::unique_ptr<GateRun>> Make(const std::filesystem::path& network,
                                               std::int64_t batch, std::uint64_t seed,
                                               std::filesystem::path folder);
  /// An adapter that is only a command line.
  static frameworks::Installation Adapter(std::vector<std::string> argv,
                                          std::map<std::string, std::string> environment = {});

  experiment::Judgement Launch(const frameworks::Installation& installation,
                               const LaunchOptions& options);
  /// A gate launch, then, if that was accepted, a timed one; in all up to `tries` times, since a
  /// busy machine hides faults that show in time alone.
  Caught Catch(const frameworks::Installation& installation, int tries);

 private:
  explicit GateRun(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
  std::unique_ptr<experiment::Case> case_;
  int launches_ = 0;
};

/// The first thing that `judgement` has against the launch.
Caught FirstObjection(const experiment::Judgement& judgement);

}  // namespace dlbench::decoys
