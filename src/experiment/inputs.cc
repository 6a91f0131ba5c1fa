#include "experiment/inputs.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/file.h"
#include "data/sha256.h"
#include "network/parse.h"

namespace dlbench::experiment {
namespace {

/// What the plan names, else what the user has added for this kind of data.
Result<data::DataRequest> RequestFor(const Plan& plan, const network::Network& network,
                                     const data::DataRegistry& registry) {
  data::DataRequest request;
  request.seed = plan.seed;
  if (plan.data == "synthetic") {
    request.kind = "synthetic";
  } else if (!plan.data.empty()) {
    request.folder = plan.data;
  } else {
    DLBENCH_ASSIGN_OR_RETURN(const auto added, registry.Find(network.input.dataset));
    if (added) request.folder = added->path;
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

/// "alexnet-r-ceil-b64".
std::string FolderOf(const Case& one) {
  const network::Network& network = one.network();
  return fmt::format("{}{}{}-b{}", network.name, network.variant.empty() ? "" : "-",
                     network.variant, one.batch());
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
    const Plan& plan, const std::vector<std::filesystem::path>& network_folders,
    const data::DataRegistry& registry) {
  std::vector<std::unique_ptr<Case>> cases;
  for (const std::string& name : plan.networks) {
    DLBENCH_ASSIGN_OR_RETURN(const network::Network network,
                             network::FindNetwork(name, network_folders));
    DLBENCH_ASSIGN_OR_RETURN(const auto request, RequestFor(plan, network, registry));
    DLBENCH_ASSIGN_OR_RETURN(const data::Dataset dataset, data::LoadDataset(request, network));
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
    DLBENCH_RETURN_IF_ERROR(one->Write(folder / FolderOf(*one)));
  }
  return {};
}

}  // namespace dlbench::experiment
