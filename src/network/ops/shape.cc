#include <fmt/format.h>

#include "network/ops/registry.h"

namespace dlbench::network {
namespace {

using Kind = AttributeSpec::Kind;

constexpr double kLargest = 65536;

Result<Inference> InferAdd(const Attributes& /*attributes*/,
                           const std::vector<LayerInput>& inputs) {
  if (inputs[0].shape != inputs[1].shape) {
    return Error(ErrorCode::kInput,
                 fmt::format("it adds equal shapes, but its inputs have {} and {}; change the "
                             "layers before it or bring one to the other's shape",
                             ToString(inputs[0].shape), ToString(inputs[1].shape)));
  }
  return OutputOnly(inputs[0].shape);
}

Result<Inference> InferFlatten(const Attributes& /*attributes*/,
                               const std::vector<LayerInput>& inputs) {
  DLBENCH_RETURN_IF_ERROR(CheckImage(inputs.front().shape));
  return OutputOnly({ElementCount(inputs.front().shape)});
}

Result<Inference> InferSubsamplePad(const Attributes& attributes,
                                    const std::vector<LayerInput>& inputs) {
  const Shape& image = inputs.front().shape;
  DLBENCH_RETURN_IF_ERROR(CheckImage(image));
  const std::int64_t stride = std::get<std::int64_t>(attributes.at("stride"));
  const Shape output{image[0] + std::get<std::int64_t>(attributes.at("channels_before")) +
                         std::get<std::int64_t>(attributes.at("channels_after")),
                     (image[1] + stride - 1) / stride, (image[2] + stride - 1) / stride};
  DLBENCH_RETURN_IF_ERROR(CheckElements(output, "add fewer channels"));
  return OutputOnly(output);
}

Result<Inference> InferSame(const Attributes& /*attributes*/,
                            const std::vector<LayerInput>& inputs) {
  return OutputOnly(inputs.front().shape);
}

}  // namespace

/// The sum of two tensors of one shape.
Op AddOp() { return {"add", 2, {}, InferAdd}; }

/// [channels, height, width] as one dimension: channel by channel, row by row.
Op FlattenOp() { return {"flatten", 1, {}, InferFlatten}; }

/// Every `stride`-th row and column from the first on, with channels of zeros put before and after.
/// Source: He and others 2015, section 3.3, shortcut option A.
Op SubsamplePadOp() {
  return {"subsample_pad",
          1,
          {{"stride", Kind::kInteger, 1, kLargest, {}, 0},
           {"channels_before", Kind::kInteger, 0, kLargest, {}, 0},
           {"channels_after", Kind::kInteger, 0, kLargest, {}, 0}},
          InferSubsamplePad};
}

/// y = x * mask / (1 - probability); the masks are part of the data, so that every framework drops
/// the same values.
Op DropoutOp() {
  return {"dropout", 1, {{"probability", Kind::kReal, 0, 0.999, {}, 0}}, InferSame};
}

}  // namespace dlbench::network
