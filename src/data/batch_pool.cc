#include <algorithm>
#include <numeric>

#include "data/dataset.h"
#include "data/random.h"
#include "data/safetensors.h"
#include "data/sha256.h"
#include "data/synthetic.h"

namespace dlbench::data {
namespace {

constexpr std::int64_t kBatches = 8;
constexpr std::int64_t kMinBatches = 2;  // each step must see another batch than the one before
constexpr std::int64_t kPoolBytes = 256'000'000;
// A data set hardly larger than a batch is shuffled anew this often before the pool stays smaller.
constexpr std::uint64_t kMaxEpochs = 64;

// The order of epoch `epoch`: Fisher-Yates ("The Art of Computer Programming" 3.4.2, algorithm P).
std::vector<std::int64_t> EpochOrder(std::int64_t samples, std::uint64_t seed,
                                     std::uint64_t epoch) {
  const NamedStream stream(seed, "batches/epoch-" + std::to_string(epoch));
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[stream.Below(i - 1, i)]);
  }
  return order;
}

class PoolBuilder {
 public:
  PoolBuilder(const Dataset& dataset, const network::Network& network, std::int64_t batch)
      : dataset_(dataset),
        scale_(static_cast<float>(network.input.scale)),
        offset_(static_cast<float>(network.input.offset)),
        elements_(static_cast<std::size_t>(network::ElementCount(network.input.shape))),
        raw_(elements_) {
    pool_.batch = batch;
  }

  // Adds the batch of these samples; leaves it out if its content is already in the pool.
  void AddBatch(std::span<const std::int64_t> samples) {
    for (const std::int64_t sample : samples) AddSample(sample);
    const std::size_t x_size = samples.size() * elements_;
    const auto x = std::span(pool_.x).last(x_size);
    const auto labels = std::span(pool_.labels).last(samples.size());
    for (std::int64_t i = 0; i < pool_.count; ++i) {
      const auto position = static_cast<std::size_t>(i);
      if (std::equal(x.begin(), x.end(), pool_.x.data() + position * x_size) &&
          std::equal(labels.begin(), labels.end(),
                     pool_.labels.data() + position * samples.size())) {
        pool_.x.resize(pool_.x.size() - x_size);
        pool_.labels.resize(pool_.labels.size() - samples.size());
        return;
      }
    }
    ++pool_.count;
  }

  std::int64_t count() const { return pool_.count; }

  BatchPool Finish() { return std::move(pool_); }

 private:
  void AddSample(std::int64_t sample) {
    const auto index = static_cast<std::size_t>(sample);
    if (dataset_.synthetic) {
      SyntheticSample(dataset_, sample, raw_);
    } else {
      std::copy_n(dataset_.pixels.data() + index * elements_, elements_, raw_.data());
    }
    for (const std::uint8_t value : raw_) {
      pool_.x.push_back(scale_ * (static_cast<float>(value) - offset_));
    }
    pool_.labels.push_back(dataset_.labels[index]);
  }

  const Dataset& dataset_;
  const float scale_;
  const float offset_;
  const std::size_t elements_;
  std::vector<std::uint8_t> raw_;
  BatchPool pool_;
};

/// A text's pool: row r of batch i is token segment i of part r.
Result<BatchPool> TokenPool(const Dataset& dataset, const network::Network& network,
                            std::int64_t batch, std::uint64_t seed) {
  const std::int64_t length = network::ElementCount(network.input.shape);
  if (network.LabelsPerSample() != length) {
    return Error(
        ErrorCode::kInput,
        "network '" + network.name + "' takes tokens, so its loss needs logits for each of them");
  }
  if (network.classes < network.input.vocabulary) {
    return Error(ErrorCode::kInput, "network '" + network.name + "' predicts tokens of " +
                                        std::to_string(network.input.vocabulary) + " with " +
                                        std::to_string(network.classes) + " classes");
  }
  // The last token of a part is a label only.
  const std::int64_t part = (static_cast<std::int64_t>(dataset.tokens.size()) - 1) / batch;
  const std::int64_t count = std::min(WantedBatches(network, batch), part / length);
  if (count < kMinBatches) {
    return Error(ErrorCode::kInput, "'" + dataset.name + "' with its " +
                                        std::to_string(dataset.tokens.size()) +
                                        " tokens gives no two batches of " + std::to_string(batch) +
                                        " sequences of " + std::to_string(length));
  }
  const auto begin = static_cast<std::int64_t>(
      NamedStream(seed, "batches/begin")
          .Below(0, static_cast<std::uint64_t>(part - count * length + 1)));
  BatchPool pool;
  pool.batch = batch;
  pool.count = count;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t row = 0; row < batch; ++row) {
      const std::int32_t* from = dataset.tokens.data() + row * part + begin + i * length;
      pool.x.insert(pool.x.end(), from, from + length);
      pool.labels.insert(pool.labels.end(), from + 1, from + length + 1);
    }
  }
  return pool;
}

std::int64_t MaskElements(const network::Network& network) {
  std::int64_t elements = 0;
  for (const network::Node& node : network.nodes) {
    if (node.op == "dropout") elements += network::ElementCount(node.output_shape);
  }
  return elements;
}

/// Draws the masks: an element is kept with 1 - probability, decided by its own 32 bits.
void AddMasks(const network::Network& network, std::uint64_t seed, BatchPool& pool) {
  for (const network::Node& node : network.nodes) {
    if (node.op != "dropout") continue;
    const auto dropped = static_cast<std::uint64_t>(node.Real("probability") * 4294967296.0);
    const auto elements = static_cast<std::size_t>(pool.count * pool.batch *
                                                   network::ElementCount(node.output_shape));
    std::vector<std::uint32_t> bits(elements);
    NamedStream(seed, "mask/" + node.name).FillBits(0, bits);
    std::vector<std::uint8_t>& mask = pool.masks[node.name];
    mask.resize(elements);
    for (std::size_t i = 0; i < elements; ++i) mask[i] = bits[i] >= dropped ? 1 : 0;
  }
}

std::string HashOf(const BatchPool& pool, std::int64_t elements) {
  Sha256 hash;
  hash.Add("pool " + std::to_string(pool.count) + " " + std::to_string(pool.batch) + " " +
           std::to_string(elements) + "\n");
  hash.AddElements(std::span<const float>(pool.x));
  hash.AddElements(std::span<const std::int32_t>(pool.labels));
  for (const auto& [name, mask] : pool.masks) {
    hash.Add("mask " + name + "\n");
    hash.AddElements(std::span<const std::uint8_t>(mask));
  }
  return hash.Finish();
}

/// What both kinds of pool end with.
BatchPool Finished(BatchPool pool, const network::Network& network, std::uint64_t seed) {
  AddMasks(network, seed, pool);
  pool.content_hash = HashOf(pool, network::ElementCount(network.input.shape));
  return pool;
}

Status CheckBatch(const Dataset& dataset, const network::Network& network, std::int64_t batch) {
  if (batch < 1) {
    return Error(ErrorCode::kInput, "the batch must be at least 1, it is " + std::to_string(batch));
  }
  if (batch > dataset.samples) {
    return Error(ErrorCode::kInput, "a batch of " + std::to_string(batch) + " is larger than '" +
                                        dataset.name + "' with its " +
                                        std::to_string(dataset.samples) +
                                        " samples; choose a smaller batch");
  }
  const std::int64_t have = network::ElementCount(dataset.sample_shape);
  const std::int64_t want = network::ElementCount(network.input.shape);
  if (have == want) return {};
  return Error(ErrorCode::kInput, "samples of '" + dataset.name + "' have " + std::to_string(have) +
                                      " values, network '" + network.name + "' takes " +
                                      std::to_string(want));
}

}  // namespace

std::int64_t WantedBatches(const network::Network& network, std::int64_t batch) {
  const std::int64_t sample_bytes = network::ElementCount(network.input.shape) * 4 +
                                    network.LabelsPerSample() * 4 + MaskElements(network);
  return std::clamp(kPoolBytes / sample_bytes / batch, kMinBatches, kBatches);
}

Result<BatchPool> MakeBatchPool(const Dataset& dataset, const network::Network& network,
                                std::int64_t batch, std::uint64_t seed) {
  DLBENCH_RETURN_IF_ERROR(CheckBatch(dataset, network, batch));
  if (network.input.kind == network::Input::Kind::kTokens) {
    DLBENCH_ASSIGN_OR_RETURN(auto pool, TokenPool(dataset, network, batch, seed));
    return Finished(std::move(pool), network, seed);
  }
  const std::int64_t wanted = WantedBatches(network, batch);
  const auto size = static_cast<std::size_t>(batch);
  PoolBuilder builder(dataset, network, batch);
  for (std::uint64_t epoch = 0; epoch < kMaxEpochs && builder.count() < wanted; ++epoch) {
    const auto order = EpochOrder(dataset.samples, seed, epoch);
    for (std::size_t at = 0; at + size <= order.size() && builder.count() < wanted; at += size) {
      builder.AddBatch(std::span(order).subspan(at, size));
    }
  }
  if (builder.count() < kMinBatches) {
    return Error(ErrorCode::kInput,
                 "'" + dataset.name + "' with its " + std::to_string(dataset.samples) +
                     " samples gives no two different batches of " + std::to_string(batch));
  }
  return Finished(builder.Finish(), network, seed);
}

Status WriteBatchPool(const BatchPool& pool, const network::Network& network,
                      const std::filesystem::path& path) {
  const auto shape_of = [&pool](const network::Shape& sample) {
    std::vector<std::int64_t> shape = {pool.count, pool.batch};
    shape.insert(shape.end(), sample.begin(), sample.end());
    return shape;
  };
  std::vector<TensorView> tensors;
  std::vector<std::int32_t> tokens;
  network::Shape labels;
  if (network.input.kind == network::Input::Kind::kTokens) {
    labels = network.input.shape;
    tokens.assign(pool.x.begin(), pool.x.end());
    tensors.push_back(
        ViewOf("x", shape_of(network.input.shape), std::span<const std::int32_t>(tokens)));
  } else {
    tensors.push_back(ViewOf("x", shape_of(network.input.shape), std::span<const float>(pool.x)));
  }
  tensors.push_back(ViewOf("labels", shape_of(labels), std::span<const std::int32_t>(pool.labels)));
  for (const network::Node& node : network.nodes) {
    const auto mask = pool.masks.find(node.name);
    if (mask == pool.masks.end()) continue;
    tensors.push_back(ViewOf("mask." + node.name, shape_of(node.output_shape),
                             std::span<const std::uint8_t>(mask->second)));
  }
  return WriteSafetensors(path, tensors, {{"content_hash", pool.content_hash}});
}

}  // namespace dlbench::data
