#include "experiment/inputs.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/file.h"
#include "data/sha256.h"
#include "network/parse.h"

namespace dlbench::experiment {
namespace {

data::DataRequest RequestFor(const Plan& plan) {
  data::DataRequest request;
  request.seed = plan.seed;
  if (plan.data == "synthetic") {
    request.kind = "synthetic";
  } else if (!plan.data.empty()) {
    request.folder = plan.data;
  }
  return request;
}

Status MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return Error(ErrorCode::kIo,
               fmt::format("cannot make the folder '{}': {}; name another with --out",
                           folder.string(), error.message()));
}

}  // namespace

Result<std::unique_ptr<Case>> Case::Make(const network::Network& network,
                                         const data::Dataset& dataset, std::int64_t batch,
                                         std::uint64_t seed) {
  std::unique_ptr<Case> made(new Case);
  made->network_ = network;
  made->data_ = {dataset.name, dataset.source, dataset.content_hash, dataset.synthetic};
  DLBENCH_ASSIGN_OR_RETURN(made->pool_, data::MakeBatchPool(dataset, network, batch, seed));
  made->weights_ = data::InitialWeights(network, seed);
  made->network_hash_ = data::Sha256Hex(network::ToProtocolJson(network));
  return made;
}

Status Case::Write(const std::filesystem::path& folder) {
  DLBENCH_RETURN_IF_ERROR(MakeFolder(folder));
  weights_path_ = std::filesystem::absolute(folder / "weights.safetensors");
  batches_path_ = std::filesystem::absolute(folder / "batches.safetensors");
  DLBENCH_RETURN_IF_ERROR(data::WriteWeights(network_, weights_, weights_path_));
  DLBENCH_RETURN_IF_ERROR(data::WriteBatchPool(pool_, network_, batches_path_));
  return WriteFileAtomically(folder / "network.json", network::ToProtocolJson(network_));
}

Result<const verify::Gate*> Case::GateFor(bool rate_changes) {
  std::unique_ptr<verify::Gate>& gate = gates_[rate_changes];
  if (!gate) {
    DLBENCH_ASSIGN_OR_RETURN(gate,
                             verify::Gate::Create({&network_, &weights_, &pool_, rate_changes}));
  }
  return gate.get();
}

Result<std::vector<std::unique_ptr<Case>>> MakeCases(
    const Plan& plan, const std::vector<std::filesystem::path>& network_folders) {
  std::vector<std::unique_ptr<Case>> cases;
  for (const std::string& name : plan.networks) {
    DLBENCH_ASSIGN_OR_RETURN(const network::Network network,
                             network::FindNetwork(name, network_folders));
    DLBENCH_ASSIGN_OR_RETURN(const data::Dataset dataset,
                             data::LoadDataset(RequestFor(plan), network));
    for (const std::int64_t batch : plan.batches) {
      DLBENCH_ASSIGN_OR_RETURN(auto made, Case::Make(network, dataset, batch, plan.seed));
      cases.push_back(std::move(made));
    }
  }
  return cases;
}

Status WriteCases(const std::vector<std::unique_ptr<Case>>& cases,
                  const std::filesystem::path& folder) {
  for (const auto& one : cases) {
    DLBENCH_RETURN_IF_ERROR(
        one->Write(folder / fmt::format("{}-b{}", one->network().name, one->batch())));
  }
  return {};
}

}  // namespace dlbench::experiment
