#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "network/network.h"
#include "worker/worker.h"

namespace dlbench::experiment {

/// One rule of docs/protocol.md and how an adapter keeps it.
struct ConformancePoint {
  std::string name;  ///< "hello", "unknown layer", "times of run" ...
  bool ok = false;
  std::string message;  ///< What was seen; where wrong, also what the protocol says.
};

/// The adapter to test and what to test it on.
struct ConformanceRequest {
  std::vector<std::string> argv;                   ///< Starts the adapter.
  std::map<std::string, std::string> environment;  ///< Of every launch, placeholders filled.
  const network::Network* network = nullptr;       ///< Small (fcn-tiny); not owned.
  std::filesystem::path folder;                    ///< For data and launches; made if missing.
  std::string preset = "default";
  int threads = 1;
  std::int64_t batch = 16;
  worker::Limits limits;
};

/// What `dlbench frameworks check NAME` does: walks through every request of the protocol and some
/// wrong ones, with synthetic data, and says for each rule whether the adapter keeps it. Numbers
/// are not judged here: that is the gate's work (`dlbench verify`). Stops early where nothing more
/// can be asked. An Error means that the test itself could not be made (disk, data).
Result<std::vector<ConformancePoint>> CheckFramework(const ConformanceRequest& request,
                                                     Clock& clock,
                                                     const volatile std::sig_atomic_t* interrupted);

}  // namespace dlbench::experiment
