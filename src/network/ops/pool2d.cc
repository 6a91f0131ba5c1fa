#include "network/ops/registry.h"
#include "network/ops/window.h"

namespace dlbench::network {
namespace {

using Kind = AttributeSpec::Kind;

/// More would let a window hold padding alone.
std::int64_t MostPadding(std::int64_t kernel) { return kernel / 2; }

Result<Inference> InferWindow(const Attributes& attributes, const std::vector<LayerInput>& inputs) {
  const Shape& image = inputs.front().shape;
  DLBENCH_ASSIGN_OR_RETURN(const Shape plane,
                           SlideWindow(image, WindowOf(attributes),
                                       std::get<bool>(attributes.at("ceil_mode")), MostPadding));
  const Shape output{image[0], plane[0], plane[1]};
  DLBENCH_RETURN_IF_ERROR(CheckElements(output, "use a larger stride"));
  return OutputOnly(output);
}

Result<Inference> InferGlobal(const Attributes& /*attributes*/,
                              const std::vector<LayerInput>& inputs) {
  const Shape& image = inputs.front().shape;
  DLBENCH_RETURN_IF_ERROR(CheckImage(image));
  return OutputOnly({image[0], 1, 1});
}

std::vector<AttributeSpec> PoolAttributes() {
  std::vector<AttributeSpec> attributes = WindowAttributes();
  attributes.push_back({"ceil_mode", Kind::kBoolean, 0, 0, {}, 0});
  return attributes;
}

}  // namespace

/// The largest value of each window; padding is below every number. The gradient goes to the first
/// of equal largest values, row by row.
Op MaxPool2dOp() { return {"max_pool2d", 1, PoolAttributes(), InferWindow}; }

/// The sum of each window over its size: with `count_padding` the elements within the padded image,
/// without it those within the image.
Op AvgPool2dOp() {
  std::vector<AttributeSpec> attributes = PoolAttributes();
  attributes.push_back({"count_padding", Kind::kBoolean, 0, 0, {}, 0});
  return {"avg_pool2d", 1, attributes, InferWindow};
}

/// The mean of each channel: [channels, height, width] gives [channels, 1, 1].
Op GlobalAvgPoolOp() { return {"global_avg_pool", 1, {}, InferGlobal}; }

}  // namespace dlbench::network
