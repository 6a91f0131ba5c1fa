#include "core/text.h"
#include "data/dataset.h"
#include "data/synthetic.h"

namespace dlbench::data {
namespace {

constexpr const char* kMnist = "mnist";
constexpr const char* kSynthetic = "synthetic";

Error NotInstalled(const std::filesystem::path& folder) {
  return Error(ErrorCode::kNotFound,
               "no data set: '" + folder.string() +
                   "' is not there; install it (apt-get install dataset-fashion-mnist), name your "
                   "own folder with MNIST's files (--data FOLDER) or use generated values "
                   "(--data synthetic)");
}

Result<Dataset> LoadMnist(const DataRequest& request, const network::Network& network,
                          const std::filesystem::path& distribution_folder) {
  if (request.folder) return LoadIdxFolder(*request.folder, "MNIST (user)", network.classes);
  std::error_code ignored;
  if (!std::filesystem::is_directory(distribution_folder, ignored)) {
    return NotInstalled(distribution_folder);
  }
  return LoadIdxFolder(distribution_folder, "Fashion-MNIST", network.classes);
}

Status CheckShape(const Dataset& dataset, const network::Network& network) {
  if (network::ElementCount(dataset.sample_shape) == network::ElementCount(network.input.shape)) {
    return {};
  }
  return Error(ErrorCode::kInput, "'" + dataset.source + "' holds samples of shape " +
                                      network::ToString(dataset.sample_shape) + ", network '" +
                                      network.name + "' takes " +
                                      network::ToString(network.input.shape));
}

}  // namespace

std::filesystem::path DebianFashionMnistFolder() { return "/usr/share/datasets/fashion-mnist"; }

Result<Dataset> LoadDataset(const DataRequest& request, const network::Network& network,
                            const std::filesystem::path& distribution_folder) {
  const std::string kind = request.kind.empty() ? network.input.dataset : request.kind;
  if (kind == kSynthetic) {
    if (request.folder) {
      return Error(ErrorCode::kInput, "synthetic data are generated: they take no folder, but '" +
                                          request.folder->string() + "' was named");
    }
    return MakeSynthetic(network, request.seed);
  }
  if (kind != kMnist) {
    return Error(ErrorCode::kInput, "unknown data set '" + Printable(kind) + "'" +
                                        SuggestionFor(kind, {kMnist, kSynthetic}));
  }
  DLBENCH_ASSIGN_OR_RETURN(auto dataset, LoadMnist(request, network, distribution_folder));
  DLBENCH_RETURN_IF_ERROR(CheckShape(dataset, network));
  return dataset;
}

}  // namespace dlbench::data
