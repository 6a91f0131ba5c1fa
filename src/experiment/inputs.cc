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
                                         std::uint64_t seed, const std::filesystem::path& folder) {
  std::unique_ptr<Case> made(new Case);
  made->network_ = network;
  made->data_ = {dataset.name, dataset.source, dataset.content_hash, dataset.synthetic};
  DLBENCH_ASSIGN_OR_RETURN(made->pool_, data::MakeBatchPool(dataset, network, batch, seed));
  made->weights_ = data::InitialWeights(network, seed);
  DLBENCH_RETURN_IF_ERROR(MakeFolder(folder));
  made->weights_path_ = std::filesystem::absolute(folder / "weights.safetensors");
  made->batches_path_ = std::filesystem::absolute(folder / "batches.safetensors");
  DLBENCH_RETURN_IF_ERROR(data::WriteWeights(network, made->weights_, made->weights_path_));
  DLBENCH_RETURN_IF_ERROR(data::WriteBatchPool(made->pool_, network, made->batches_path_));
  const std::string json = network::ToProtocolJson(network);
  made->network_hash_ = data::Sha256Hex(json);
  DLBENCH_RETURN_IF_ERROR(WriteFileAtomically(folder / "network.json", json));
  return made;
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
    const Plan& plan, const std::vector<std::filesystem::path>& network_folders,
    const std::filesystem::path& folder) {
  std::vector<std::unique_ptr<Case>> cases;
  for (const std::string& name : plan.networks) {
    DLBENCH_ASSIGN_OR_RETURN(const network::Network network,
                             network::FindNetwork(name, network_folders));
    DLBENCH_ASSIGN_OR_RETURN(const data::Dataset dataset,
                             data::LoadDataset(RequestFor(plan), network));
    for (const std::int64_t batch : plan.batches) {
      DLBENCH_ASSIGN_OR_RETURN(auto made,
                               Case::Make(network, dataset, batch, plan.seed,
                                          folder / fmt::format("{}-b{}", network.name, batch)));
      cases.push_back(std::move(made));
    }
  }
  return cases;
}

}  // namespace dlbench::experiment
