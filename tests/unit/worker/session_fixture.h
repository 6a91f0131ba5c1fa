#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "network/network.h"
#include "worker/worker.h"

namespace dlbench::worker {

/// A clock that gives one time to the first reading after Set and another to all later ones: the
/// bracket of one exchange.
class BracketClock final : public Clock {
 public:
  void Set(std::int64_t first, std::int64_t later) {
    first_ = first;
    later_ = later;
    fresh_ = true;
  }
  std::int64_t MonotonicNs() override { return std::exchange(fresh_, false) ? first_ : later_; }
  std::string CalendarLabel() override { return "2026-01-01T00:00:00Z"; }

 private:
  std::int64_t first_ = 0;
  std::int64_t later_ = 0;
  bool fresh_ = false;
};

/// Starts fake adapters, each in a new folder that goes with the test.
class SessionFixture : public testing::Test {
 protected:
  SessionFixture()
      : folder_(
            std::filesystem::path(testing::TempDir()) /
            ("dlbench_session_" + std::to_string(::getpid()) + "_" + std::to_string(counter_++))) {
    std::filesystem::create_directories(folder_);
    network_.name = "none";
    network_.optimizer.momentum = 0.9;
    network::Node node;
    node.name = "fc1";
    node.op = "dense";
    node.inputs = {"input"};
    node.parameters.push_back({"fc1.weight", {10, 784}, {}, true});
    network_.nodes.push_back(node);
  }
  ~SessionFixture() override { std::filesystem::remove_all(folder_); }

  /// A launch of the fake adapter with these orders (see fake_adapter.cc).
  LaunchSpec Spec(std::vector<std::string> orders) const {
    LaunchSpec spec;
    spec.argv = {FAKE_ADAPTER};
    spec.argv.insert(spec.argv.end(), orders.begin(), orders.end());
    spec.folder = folder_;
    return spec;
  }
  std::unique_ptr<Session> StartSpec(const LaunchSpec& spec) {
    auto session = Session::Start(spec, clock_, &interrupted_);
    if (!session.ok()) {
      ADD_FAILURE() << session.failure().message;
      return nullptr;
    }
    return std::move(*session);
  }
  std::unique_ptr<Session> Start(const std::vector<std::string>& orders) {
    return StartSpec(Spec(orders));
  }
  PrepareRequest Request() const {
    PrepareRequest request;
    request.network = &network_;
    request.weights = "/nowhere/weights.safetensors";
    request.batches = "/nowhere/pool.safetensors";
    request.batch = 8;
    request.pool = 8;
    return request;
  }
  /// The failure of a session's `prepare` after hello.
  Failure PrepareFailure(Session& session) const {
    if (auto hello = session.SayHello(); !hello.ok()) return hello.failure();
    auto prepared = session.Prepare(Request());
    EXPECT_FALSE(prepared.ok());
    return prepared.ok() ? Failure{} : prepared.failure();
  }

  const std::filesystem::path folder_;
  network::Network network_;
  SystemClock clock_;
  volatile std::sig_atomic_t interrupted_ = 0;

 private:
  static inline std::atomic<int> counter_{0};
};

}  // namespace dlbench::worker
