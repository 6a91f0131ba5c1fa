#include "network/ops/op.h"

#include <fmt/format.h>

#include <utility>

#include "network/limits.h"

namespace dlbench::network {

Inference OutputOnly(Shape output_shape) {
  Inference inference;
  inference.output_shape = std::move(output_shape);
  return inference;
}

Status CheckImage(const Shape& shape) {
  if (shape.size() == 3) return {};
  return Error(ErrorCode::kInput,
               fmt::format("it takes images [channels, height, width], but its input has shape {}",
                           ToString(shape)));
}

Status CheckElements(const Shape& shape, const char* remedy) {
  if (CheckedElementCount(shape)) return {};
  return Error(ErrorCode::kInput, fmt::format("the tensor {} has more than {} elements; {}",
                                              ToString(shape), kMaxTensorElements, remedy));
}

}  // namespace dlbench::network
