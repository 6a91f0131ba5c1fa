#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "network/network.h"

namespace dlbench::data {

/// Labelled samples with raw (unscaled) values, or a text as token ids, all in memory.
struct Dataset {
  std::string name;             ///< "Fashion-MNIST", "CIFAR-10", "kjv", "synthetic".
  std::string source;           ///< Folder or file it came from; "generated" for synthetic data.
  bool synthetic = false;       ///< Shown wherever a result shows.
  std::int64_t samples = 0;     ///< Of tokens: sequences that the text can be cut into.
  network::Shape sample_shape;  ///< {28, 28}: must have as many elements as the network's input.
  std::int64_t classes = 0;
  std::vector<std::uint8_t> pixels;  ///< samples x sample_shape, row-major; empty when synthetic.
  std::vector<std::int32_t> labels;  ///< One a sample, in [0, classes); empty for a text.
  std::vector<std::int32_t> tokens;  ///< A text's ids in [0, vocabulary); empty for values.
  std::uint64_t seed = 0;            ///< Of synthetic data, whose values are made by index.
  std::string content_hash;          ///< Hex, of pixels and labels (or of the recipe).
};

/// Where the data of a network come from.
struct DataRequest {
  /// "mnist", "cifar10", "text", "synthetic"; empty: what the network file names.
  std::string kind;
  /// The user's own folder with the set's files, or text file.
  std::optional<std::filesystem::path> folder;
  std::uint64_t seed = 1;  ///< For synthetic data.
};

/// Loads an IDX image file and its label file (plain or gzip, told by content, not by name).
/// Errors name the file and the fault: "byte order swapped", "labels file", "cut short", a label
/// outside [0, classes) ...
Result<Dataset> LoadIdx(const std::filesystem::path& images, const std::filesystem::path& labels,
                        std::int64_t classes = 10);
/// Finds the training pair in `folder` under either spelling (train-images-idx3-ubyte,
/// train-images.idx3-ubyte, each with or without .gz). Two candidates with different content are
/// refused as ambiguous; where none is there, the error lists all names tried.
Result<Dataset> LoadIdxFolder(const std::filesystem::path& folder, const std::string& name,
                              std::int64_t classes = 10);
/// Where Debian's package dataset-fashion-mnist puts its files.
std::filesystem::path DebianFashionMnistFolder();
/// Where the distribution's packages put their data.
struct DistributionData {
  std::filesystem::path mnist = DebianFashionMnistFolder();
  std::filesystem::path bible = "/usr/bin/bible";
};
/// Data for `network` as asked: the user's folder or file, else what the distribution has (MNIST's
/// format: an error that names the package to install), else generated data of the same shape
/// (CIFAR-10, text), which say `synthetic`. "synthetic" always generates them. An empty kind means
/// the network's own.
Result<Dataset> LoadDataset(const DataRequest& request, const network::Network& network,
                            const DistributionData& distribution = {});

/// A pool of batches, scaled for the network: step i uses batch i mod count.
struct BatchPool {
  std::int64_t batch = 0;            ///< Samples per batch.
  std::int64_t count = 0;            ///< Batches in the pool (8; fewer above 256 MB; at least 2).
  std::vector<float> x;              ///< [count, batch, input elements]; tokens as whole numbers.
  std::vector<std::int32_t> labels;  ///< [count, batch], or [count, batch, T] for a text.
  /// By name of a dropout node: 1 where its input goes on, [count, batch, the node's shape].
  std::map<std::string, std::vector<std::uint8_t>> masks;
  std::string content_hash;  ///< Hex.
};

/// Batches that a pool should hold: 8, fewer where they would exceed 256 MB, never fewer than 2.
std::int64_t WantedBatches(const network::Network& network, std::int64_t batch);
/// Draws the pool: a permutation of the data set that depends on the seed alone, cut into batches;
/// where the data end before the pool is full, they are permuted anew. All batches differ in
/// content; a tiny data set gives fewer than 8. kInput if the batch is larger than the data (with
/// both numbers) or no two different batches exist.
///
/// A text is cut into `batch` parts of equal length; row r of batch i + 1 goes on in part r where
/// row r of batch i ended, so that state may be carried. The seed chooses where in the parts the
/// pool begins. The label of a token is the token after it.
Result<BatchPool> MakeBatchPool(const Dataset& dataset, const network::Network& network,
                                std::int64_t batch, std::uint64_t seed);
/// Writes the pool as safetensors: "x" F32 [count, batch, ...sample shape], of tokens I32; "labels"
/// I32 [count, batch] or [count, batch, T]; "mask.<node>" U8 [count, batch, ...node shape].
Status WriteBatchPool(const BatchPool& pool, const network::Network& network,
                      const std::filesystem::path& path);

/// Initial values of every parameter, by canonical name, from (seed, name) and its Initializer
/// alone.
std::map<std::string, std::vector<float>> InitialWeights(const network::Network& network,
                                                         std::uint64_t seed);
/// Writes parameters (canonical names and shapes, in the network's order) as safetensors F32.
Status WriteWeights(const network::Network& network,
                    const std::map<std::string, std::vector<float>>& weights,
                    const std::filesystem::path& path);

}  // namespace dlbench::data
