#include <fmt/format.h>

#include "network/limits.h"
#include "network/ops/registry.h"
#include "network/ops/window.h"

namespace dlbench::network {
namespace {

using Kind = AttributeSpec::Kind;
using Role = ParameterSpec::Role;

constexpr const char* kRemedy = "use fewer channels";

std::int64_t MostPadding(std::int64_t kernel) { return kernel - 1; }

Result<Inference> Infer(const Attributes& attributes, const std::vector<LayerInput>& inputs) {
  const Shape& image = inputs.front().shape;
  const Window window = WindowOf(attributes);
  DLBENCH_ASSIGN_OR_RETURN(const Shape plane, SlideWindow(image, window, false, MostPadding));
  const std::int64_t channels = std::get<std::int64_t>(attributes.at("channels"));
  const std::int64_t groups = std::get<std::int64_t>(attributes.at("groups"));
  if (image[0] % groups != 0 || channels % groups != 0) {
    return Error(ErrorCode::kInput,
                 fmt::format("'groups' is {}, but it must divide both the {} channels of the input "
                             "and 'channels', which is {}",
                             groups, image[0], channels));
  }
  const Shape weight{channels, image[0] / groups, window.kernel[0], window.kernel[1]};
  Inference inference;
  inference.output_shape = {channels, plane[0], plane[1]};
  DLBENCH_RETURN_IF_ERROR(CheckElements(weight, kRemedy));
  DLBENCH_RETURN_IF_ERROR(CheckElements(inference.output_shape, kRemedy));
  // Each factor is below 2^31 from here on.
  const std::int64_t fan_in = ElementCount(weight) / channels;
  const std::int64_t fan_out = channels / groups * window.kernel[0] * window.kernel[1];
  inference.multiply_adds = ElementCount(weight) * (plane[0] * plane[1]);
  inference.input_gradient_multiply_adds = inference.multiply_adds;
  inference.parameters.push_back({"weight", weight, Role::kWeight, fan_in, fan_out});
  if (std::get<bool>(attributes.at("bias"))) {
    inference.parameters.push_back({"bias", {channels}, Role::kBias, fan_in, fan_out});
  }
  return inference;
}

}  // namespace

/// y[o, i, j] = b[o] + sum over c, u, v of W[o, c, u, v] x[g + c, i * stride + u - top,
/// j * stride + v - left], zero outside the image (a cross-correlation, as in every framework); g
/// is the first channel of o's group. W is OIHW: [channels, input channels / groups, height,
/// width].
Op Conv2dOp() {
  std::vector<AttributeSpec> attributes = WindowAttributes();
  attributes.push_back({"channels", Kind::kInteger, 1, double{kMaxTensorElements}, {}, 0});
  attributes.push_back({"groups", Kind::kInteger, 1, double{kMaxTensorElements}, {}, 0});
  attributes.push_back({"bias", Kind::kBoolean, 0, 0, {}, 0});
  return {"conv2d", 1, attributes, Infer};
}

}  // namespace dlbench::network
