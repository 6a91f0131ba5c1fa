#include "network/limits.h"

namespace dlbench::network {

std::optional<std::int64_t> CheckedElementCount(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size <= 0 || size > kMaxTensorElements / count) return std::nullopt;
    count *= size;
  }
  return count;
}

}  // namespace dlbench::network
