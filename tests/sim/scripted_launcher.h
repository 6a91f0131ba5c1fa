#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/launcher.h"

namespace dlbench::experiment {

/// What one launch of a scripted framework does.
struct Turn {
  double step_seconds = 1e-3;                  ///< Of every step of the run.
  std::optional<worker::FailureKind> failure;  ///< Takes the place of all answers.
  std::optional<int> signal;                   ///< Of the failure.
  bool unequal = false;                        ///< The losses of `verify` are 1 % too large.
};
/// Decides a launch by its request and its number among those of its arm: 0 is the gate launch.
using Script = std::function<Turn(const LaunchRequest& request, int number)>;

/// A launch that was asked for.
struct Launched {
  std::string arm;     ///< "alpha default b8 t1".
  std::string folder;  ///< Name of the launch's folder: "round-3-1", "gate-1-2".
  std::int64_t warmup_steps = 0, timed_steps = 0;
  bool full_check = false;
};

/// Stands for adapters: true answers, computed once per case by the reference in float32, with
/// times from a script. Nothing is started and nothing waits.
class ScriptedLauncher final : public Launcher {
 public:
  /// Answers are written below `folder`.
  explicit ScriptedLauncher(std::filesystem::path folder);
  ~ScriptedLauncher() override;

  /// Of frameworks by name; one without a script takes every step in a millisecond.
  std::map<std::string, Script> scripts;
  /// Changes what a framework says of itself.
  std::function<void(const std::string& framework, worker::Hello& hello)> edit_hello;
  /// Frameworks that do not even say hello, with why.
  std::map<std::string, worker::Failure> mute;
  /// Called before each launch with the number of launches before it; true: the user stops here.
  std::function<bool(std::size_t launches)> interrupts;

  std::vector<Launched> launched;  ///< In order; interrupted ones are not among them.

 private:
  class Answers;

  LaunchObservation DoLaunch(const LaunchRequest& request) override;
  worker::Outcome<worker::Hello> DoGreet(const Arm& arm,
                                         const std::filesystem::path& folder) override;
  worker::Hello HelloOf(const Arm& arm) const;
  Answers& AnswersFor(const LaunchRequest& request);

  const std::filesystem::path folder_;
  std::map<std::string, int> numbers_;  ///< Launches so far by arm.
  std::map<std::filesystem::path, std::unique_ptr<Answers>> answers_;
};

/// "alpha default b8 t1".
std::string ShortName(const Arm& arm);

}  // namespace dlbench::experiment
