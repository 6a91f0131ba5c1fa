#include <algorithm>

#include "core/text.h"
#include "data/cifar.h"
#include "data/corpus.h"
#include "data/dataset.h"
#include "data/synthetic.h"

namespace dlbench::data {
namespace {

constexpr const char* kMnist = "mnist";
constexpr const char* kCifar10 = "cifar10";
constexpr const char* kText = "text";
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

Dataset MakeGenerated(const network::Network& network, std::uint64_t seed) {
  return network.input.kind == network::Input::Kind::kTokens ? MakeSyntheticTokens(network, seed)
                                                             : MakeSynthetic(network, seed);
}

Result<Dataset> LoadNamed(const std::string& kind, const DataRequest& request,
                          const network::Network& network, const DistributionData& distribution) {
  if (kind == kMnist) return LoadMnist(request, network, distribution.mnist);
  if (kind == kCifar10) {
    if (request.folder) return LoadCifar10Folder(*request.folder);
    return MakeGenerated(network, request.seed);  // no distribution has it
  }
  if (request.folder) return LoadText(*request.folder, network);
  std::error_code ignored;
  if (std::filesystem::exists(distribution.bible, ignored)) {
    return LoadBible(network, distribution.bible);
  }
  return MakeGenerated(network, request.seed);
}

Status CheckKind(const std::string& kind, const network::Network& network) {
  const bool tokens = network.input.kind == network::Input::Kind::kTokens;
  if (kind == kSynthetic || tokens == (kind == kText)) return {};
  return Error(ErrorCode::kInput, "network '" + network.name + "' takes " +
                                      (tokens ? "tokens" : "values") + ", the data set '" + kind +
                                      "' holds " + (tokens ? "values" : "tokens"));
}

/// Equal shapes, or flat input: an image whose sides are swapped has as many values.
Status CheckShape(const Dataset& dataset, const network::Network& network) {
  const network::Shape& wanted = network.input.shape;
  const network::Shape& have = dataset.sample_shape;
  if (network::ElementCount(have) == network::ElementCount(wanted) &&
      (have == wanted || have.size() != wanted.size())) {
    return {};
  }
  return Error(ErrorCode::kInput, "'" + dataset.source + "' holds samples of shape " +
                                      network::ToString(have) + ", network '" + network.name +
                                      "' takes " + network::ToString(wanted));
}

}  // namespace

std::filesystem::path DebianFashionMnistFolder() { return "/usr/share/datasets/fashion-mnist"; }

Result<Dataset> LoadDataset(const DataRequest& request, const network::Network& network,
                            const DistributionData& distribution) {
  const std::string kind = request.kind.empty() ? network.input.dataset : request.kind;
  const std::vector<std::string> kinds = {kMnist, kCifar10, kText, kSynthetic};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    return Error(ErrorCode::kInput,
                 "unknown data set '" + Printable(kind) + "'" + SuggestionFor(kind, kinds));
  }
  DLBENCH_RETURN_IF_ERROR(CheckKind(kind, network));
  if (kind == kSynthetic) {
    if (request.folder) {
      return Error(ErrorCode::kInput, "synthetic data are generated: they take no folder, but '" +
                                          request.folder->string() + "' was named");
    }
    return MakeGenerated(network, request.seed);
  }
  DLBENCH_ASSIGN_OR_RETURN(auto dataset, LoadNamed(kind, request, network, distribution));
  DLBENCH_RETURN_IF_ERROR(CheckShape(dataset, network));
  return dataset;
}

}  // namespace dlbench::data
