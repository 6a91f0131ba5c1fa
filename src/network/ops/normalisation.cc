#include <fmt/format.h>

#include "network/ops/registry.h"

namespace dlbench::network {
namespace {

using Kind = AttributeSpec::Kind;
using Role = ParameterSpec::Role;

constexpr double kSmallest = 1e-12;
constexpr double kLargest = 1e6;
constexpr double kLargestWindow = 65535;

Result<Inference> InferLrn(const Attributes& attributes, const std::vector<LayerInput>& inputs) {
  const Shape& image = inputs.front().shape;
  DLBENCH_RETURN_IF_ERROR(CheckImage(image));
  const std::int64_t size = std::get<std::int64_t>(attributes.at("size"));
  if (size % 2 == 0) {
    return Error(ErrorCode::kInput,
                 fmt::format("'size' is {}; frameworks differ on where a window of even size lies, "
                             "so it must be odd",
                             size));
  }
  return OutputOnly(image);
}

Result<Inference> InferBatchNorm(const Attributes& /*attributes*/,
                                 const std::vector<LayerInput>& inputs) {
  const Shape& input = inputs.front().shape;
  if (input.size() != 1 && input.size() != 3) {
    return Error(ErrorCode::kInput, fmt::format("it takes images [channels, height, width] or "
                                                "vectors, but its input has shape {}",
                                                ToString(input)));
  }
  const std::int64_t channels = input.front();
  Inference inference = OutputOnly(input);
  inference.parameters = {{"weight", {channels}, Role::kScale, 1, 1},
                          {"bias", {channels}, Role::kBias, 1, 1}};
  inference.buffers = {{"running_mean", {channels}, 0.0, false},
                       {"running_variance", {channels}, 1.0, false}};
  return inference;
}

}  // namespace

/// y = x / (k + alpha / size * sum of x^2 over the `size` channels around)^beta, zero beyond the
/// first and last channel. Source: Krizhevsky, Sutskever, Hinton 2012, section 3.3, with
/// alpha / size as Caffe and PyTorch have it (the paper: alpha).
Op LrnOp() {
  return {"lrn",
          1,
          {{"size", Kind::kInteger, 1, kLargestWindow, {}, 0},
           {"alpha", Kind::kReal, 0, kLargest, {}, 0},
           {"beta", Kind::kReal, 0, 100, {}, 0},
           {"k", Kind::kReal, kSmallest, kLargest, {}, 0}},
          InferLrn};
}

/// In training: mean m and variance v (over n values, divided by n) of each channel over the batch
/// and the image; y = (x - m) / sqrt(v + epsilon) * weight + bias. Then running_mean <-
/// (1 - momentum) * running_mean + momentum * m, and running_variance likewise with v * n / (n - 1)
/// ("unbiased") or v ("biased"). Source: Ioffe and Szegedy 2015, algorithm 1; the convention of
/// momentum is PyTorch's.
Op BatchNormOp() {
  return {"batch_norm",
          1,
          {{"epsilon", Kind::kReal, kSmallest, 1.0, {}, 0},
           {"momentum", Kind::kReal, 0, 1, {}, 0},
           {"running_variance", Kind::kChoice, 0, 0, {"unbiased", "biased"}, 0}},
          InferBatchNorm};
}

}  // namespace dlbench::network
