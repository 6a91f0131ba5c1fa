#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/campaign.h"
#include "experiment/report_model.h"
#include "scripted_launcher.h"

namespace dlbench::experiment {

/// Stands still unless told otherwise: nothing here may depend on real time.
class StillClock final : public Clock {
 public:
  std::int64_t MonotonicNs() override { return 0; }
  std::string CalendarLabel() override { return "2026-01-01T00:00:00Z"; }
};

inline constexpr std::string_view kTinyNetwork = R"(format = 1
name = "tiny"
title = "Tiny"
description = "6-5-3, for tests"
classes = 3
[input]
shape = [6]
dataset = "synthetic"
scale = 0.00392156862745098
offset = 0.0
[initial]
weights = { distribution = "uniform_fan_average", gain = 1.0 }
biases = { distribution = "uniform", bound = 0.1 }
[[layers]]
name = "fc1"
op = "dense"
units = 5
bias = true
[[layers]]
name = "tanh1"
op = "tanh"
[[layers]]
name = "fc2"
op = "dense"
units = 3
bias = true
[loss]
kind = "softmax_cross_entropy"
reduction = "mean"
input = "fc2"
[optimizer]
kind = "sgd"
learning_rate = 0.05
momentum = 0.9
weight_decay = 0.001
decays = "weights"
nesterov = false
)";

/// A campaign of frameworks alpha, beta and gamma (presets default and recommended) on a tiny
/// network, in a folder of its own, with a real store and a scripted launcher.
class CampaignTest : public testing::Test {
 protected:
  CampaignTest() : folder_(NewFolder()), launcher_(folder_ / "answers") {
    for (const char* name : {"alpha", "beta", "gamma"}) AddFramework(name);
    std::filesystem::create_directories(folder_ / "networks");
    std::ofstream(folder_ / "networks" / "tiny.toml") << kTinyNetwork;
    plan_.networks = {"tiny"};
    plan_.frameworks = {"alpha", "beta"};
    plan_.presets = {"default"};
    plan_.batches = {8};
    plan_.threads = {1};
    plan_.rounds = 6;
    plan_.warmup_seconds = 0.01;
    plan_.launch_seconds = 0.03;
    machine_.usable_threads = 4;
    machine_.memory_bytes = 1ULL << 30;
    Reopen();
  }
  ~CampaignTest() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// Runs the plan; the campaign's id, or 0 and `error_`.
  std::int64_t Run(bool resume = false) {
    CampaignContext context;
    context.places = {folder_ / "adapters", folder_ / "bin", folder_ / "data"};
    context.network_folders = {folder_ / "networks"};
    context.results_folder = folder_ / "results";
    context.resume = resume;
    context.verify_only = verify_only_;
    context.machine = machine_;
    context.peaks = peaks_;
    context.clock = &clock_;
    context.launcher = &launcher_;
    Progress progress(said_, clock_, Progress::Style::kPlain);
    context.progress = &progress;
    context.interrupted = &interrupted_;
    const auto id = RunCampaign(plan_, context, *store_);
    error_ = id.ok() ? "" : id.error().message();
    return id.ok() ? *id : 0;
  }
  /// Stops the campaign when `launches` launches have been made.
  void InterruptAfter(std::size_t launches) {
    launcher_.interrupts = [this, launches](std::size_t before) {
      if (before >= launches) interrupted_ = 1;
      return interrupted_ != 0;
    };
  }
  void DoNotInterrupt() {
    launcher_.interrupts = nullptr;
    interrupted_ = 0;
  }
  void Reopen() {
    store_.reset();
    auto opened = store::Store::Open(folder_ / "results");
    if (!opened.ok()) throw std::runtime_error(opened.error().message());
    store_ = std::move(opened).value();
  }
  report::Report Report(std::int64_t campaign = 0) {
    auto report = BuildReport(*store_, campaign, "results");
    EXPECT_TRUE(report.ok()) << report.error().message();
    return report.ok() ? *report : report::Report{};
  }
  /// "timed", "failed", ... of all rows.
  std::vector<std::string> Statuses() {
    std::vector<std::string> statuses;
    for (const report::ResultRow& row : Report().results) statuses.push_back(row.status);
    return statuses;
  }
  /// Launches that were asked for, gates and timed ones, by arm.
  int Count(const std::string& arm) const {
    int count = 0;
    for (const Launched& launch : launcher_.launched) count += launch.arm == arm ? 1 : 0;
    return count;
  }

  const std::filesystem::path folder_;
  ScriptedLauncher launcher_;
  Plan plan_;
  machine::Machine machine_;
  std::vector<machine::Peak> peaks_;
  bool verify_only_ = false;
  StillClock clock_;
  std::ostringstream said_;
  std::string error_;
  volatile std::sig_atomic_t interrupted_ = 0;
  std::unique_ptr<store::Store> store_;

 private:
  static std::filesystem::path NewFolder() {
    std::string name = (std::filesystem::path(testing::TempDir()) / "dlbench-sim-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    return name;
  }
  void AddFramework(const std::string& name) {
    const auto adapters = folder_ / "adapters" / name;
    std::filesystem::create_directories(adapters);
    std::filesystem::create_directories(folder_ / "bin");
    std::ofstream(folder_ / "bin" / ("dlbench-adapter-" + name)) << "never started";
    std::ofstream(adapters / "manifest.toml")
        << "name = \"" << name << "\"\ntitle = \"" << name
        << "\"\nkind = \"builtin\"\nlanguage = \"c++\"\nadapter = \"scripted\"\n"
        << "[preset.default]\nwhat = \"as it comes\"\nsource = \"tests\"\n"
        << "[preset.recommended]\nwhat = \"as advised\"\nsource = \"tests\"\n";
  }
};

/// A script in which every launch fails with `kind`.
inline Script Always(worker::FailureKind kind, std::optional<int> signal = std::nullopt) {
  return [kind, signal](const LaunchRequest&, int) {
    Turn turn;
    turn.failure = kind;
    turn.signal = signal;
    return turn;
  };
}
/// A script with one step time for all launches.
inline Script Steps(double seconds) {
  return [seconds](const LaunchRequest&, int) {
    Turn turn;
    turn.step_seconds = seconds;
    return turn;
  };
}

}  // namespace dlbench::experiment
