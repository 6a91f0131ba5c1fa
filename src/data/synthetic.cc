#include "data/synthetic.h"

#include <vector>

#include "data/random.h"
#include "data/sha256.h"

namespace dlbench::data {
namespace {

constexpr std::int64_t kSamples = 60000;  // as many as MNIST's training set
constexpr std::uint64_t kMeanBound = 64;
constexpr std::uint64_t kNoiseBound = 192;

// A whole number in [0, bound) from 32 bits: bound is tiny, so the bias is below 1e-7.
std::uint64_t Scale(std::uint32_t bits, std::uint64_t bound) { return (bits * bound) >> 32; }

}  // namespace

Dataset MakeSynthetic(const network::Network& network, std::uint64_t seed) {
  Dataset dataset;
  dataset.name = "synthetic";
  dataset.source = "generated";
  dataset.synthetic = true;
  dataset.samples = kSamples;
  dataset.sample_shape = network.input.shape;
  dataset.classes = network.classes;
  dataset.seed = seed;
  const NamedStream labels(seed, "synthetic/labels");
  dataset.labels.resize(static_cast<std::size_t>(kSamples));
  for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
    dataset.labels[i] =
        static_cast<std::int32_t>(labels.Below(i, static_cast<std::uint64_t>(network.classes)));
  }
  dataset.content_hash =
      Sha256Hex("synthetic 1 seed " + std::to_string(seed) + " samples " +
                std::to_string(kSamples) + " classes " + std::to_string(network.classes) +
                " shape " + network::ToString(dataset.sample_shape));
  return dataset;
}

void SyntheticSample(const Dataset& dataset, std::int64_t index, std::span<std::uint8_t> out) {
  const NamedStream means(dataset.seed, "synthetic/means");
  const NamedStream noise(dataset.seed, "synthetic/noise");
  const auto sample = static_cast<std::uint64_t>(index);
  const auto label = static_cast<std::uint64_t>(dataset.labels[sample]);
  std::vector<std::uint32_t> mean_bits(out.size());
  std::vector<std::uint32_t> noise_bits(out.size());
  means.FillBits(label * out.size(), mean_bits);
  noise.FillBits(sample * out.size(), noise_bits);
  for (std::size_t j = 0; j < out.size(); ++j) {
    out[j] = static_cast<std::uint8_t>(Scale(mean_bits[j], kMeanBound) +
                                       Scale(noise_bits[j], kNoiseBound));
  }
}

}  // namespace dlbench::data
