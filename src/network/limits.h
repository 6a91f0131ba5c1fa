#pragma once

#include <cstdint>
#include <optional>

#include "network/network.h"

namespace dlbench::network {

/// Frameworks index tensors with 32 bits in places.
inline constexpr std::int64_t kMaxTensorElements = 2'147'483'647;
/// Trainable scalars of one network: 16 GB in float32, 32 GB in the float64 reference.
inline constexpr std::int64_t kMaxParameters = 4'000'000'000;
/// Output elements of all nodes for one sample: 4 GB in float32.
inline constexpr std::int64_t kMaxActivations = 1'000'000'000;
/// Forward, for one sample: hours on the largest accelerators; ResNet-50 has 4e9.
inline constexpr std::int64_t kMaxMultiplyAdds = 1'000'000'000'000'000;
/// Nodes after expansion of the groups; ResNet-152 has about 500.
inline constexpr std::int64_t kMaxNodes = 10'000;
inline constexpr std::int64_t kMaxRepeat = 1'000;
/// Groups within groups.
inline constexpr int kMaxGroupDepth = 4;

/// Product of the sizes, or nothing where a size is not positive or the product is above
/// kMaxTensorElements.
std::optional<std::int64_t> CheckedElementCount(const Shape& shape);

}  // namespace dlbench::network
