#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.h"

namespace dlbench::data {

/// A data set without stored values for `network`'s input and classes: labels by index, values from
/// SyntheticSample. Every class has its own mean image, so that the set can be learned.
Dataset MakeSynthetic(const network::Network& network, std::uint64_t seed);
/// Raw values of sample `index` of a synthetic data set, whole numbers in [0, 255) like an image's
/// bytes: mean of the class (0 to 63) plus noise (0 to 191). A function of (seed, index, element).
void SyntheticSample(const Dataset& dataset, std::int64_t index, std::span<std::uint8_t> out);

}  // namespace dlbench::data
