#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "data/dataset.h"
#include "data/registry.h"
#include "experiment/plan.h"
#include "network/network.h"
#include "verify/gate.h"

namespace dlbench::experiment {

/// What is known of the data once the batches are drawn.
struct DataIdentity {
  std::string name, source, hash;
  bool synthetic = false;
};

/// A network at a batch size: what all its arms share. Gates are made when first asked for
/// (seconds).
class Case {
 public:
  /// Draws weights and batches. Nothing is written yet.
  static Result<std::unique_ptr<Case>> Make(const network::Network& network,
                                            const data::Dataset& dataset, std::int64_t batch,
                                            std::uint64_t seed);
  /// Writes them below `folder` as weights.safetensors, batches.safetensors and network.json.
  Status Write(const std::filesystem::path& folder);

  const network::Network& network() const { return network_; }
  std::int64_t batch() const { return pool_.batch; }
  std::int64_t pool() const { return pool_.count; }
  const DataIdentity& data() const { return data_; }
  /// Where Write has put them; empty before.
  const std::filesystem::path& weights_path() const { return weights_path_; }
  const std::filesystem::path& batches_path() const { return batches_path_; }
  /// SHA-256 of the resolved network: two results of one name but another definition never mix.
  const std::string& network_hash() const { return network_hash_; }

  /// The gate for adapters whose learning rate can (`rate_changes`) or cannot differ from step to
  /// step.
  Result<const verify::Gate*> GateFor(bool rate_changes);

 private:
  Case() = default;

  network::Network network_;
  data::BatchPool pool_;
  std::map<std::string, std::vector<float>> weights_;
  DataIdentity data_;
  std::filesystem::path weights_path_, batches_path_;
  std::string network_hash_;
  std::map<bool, std::unique_ptr<verify::Gate>> gates_;
};

/// All cases of `plan` in the order of Arm::case_index, in memory: what is wrong with networks and
/// data shows before anything is stored.
Result<std::vector<std::unique_ptr<Case>>> MakeCases(
    const Plan& plan, const std::vector<std::filesystem::path>& network_folders,
    const data::DataRegistry& registry);
/// Writes each below `folder`/<network>[-<variant>]-b<batch>.
Status WriteCases(const std::vector<std::unique_ptr<Case>>& cases,
                  const std::filesystem::path& folder);

}  // namespace dlbench::experiment
