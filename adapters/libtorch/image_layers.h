#pragma once

#include <algorithm>
#include <limits>

#include "layer.h"

namespace dlbench::libtorch {

inline bool SameOnBothSides(const sdk::Shape& padding) {
  return padding.at(0) == padding.at(2) && padding.at(1) == padding.at(3);
}

/// [top, left, bottom, right] as torch pads: the last dimension first.
inline F::PadFuncOptions Pad(const sdk::Shape& padding, double value) {
  return F::PadFuncOptions({padding.at(1), padding.at(3), padding.at(0), padding.at(2)})
      .value(value);
}

inline torch::ExpandingArray<2> Pair(const sdk::Shape& values) {
  return {{values.at(0), values.at(1)}};
}

inline std::unique_ptr<Layer> MakeConv2d(const sdk::Node& node, const Surroundings& around) {
  const sdk::Shape padding = node.List("padding");
  auto options = torch::nn::Conv2dOptions(around.input_shape.at(0), node.Integer("channels"),
                                          Pair(node.List("kernel")))
                     .stride(Pair(node.List("stride")))
                     .groups(node.Integer("groups"))
                     .bias(node.Bool("bias"));
  using ConvLayer = ModuleLayer<torch::nn::Conv2d>;
  if (SameOnBothSides(padding)) {
    options.padding(Pair(padding));
    return std::make_unique<ConvLayer>(torch::nn::Conv2d(options));
  }
  return std::make_unique<ConvLayer>(torch::nn::Conv2d(options), Pad(padding, 0.0));
}

/// The padding with which the pool's windows end where the input does, so that their number needs
/// no rounding: what the node's padding and ceil_mode ask for.
inline sdk::Shape WindowPadding(const sdk::Node& node, const sdk::Shape& input_shape) {
  sdk::Shape padding = node.List("padding");
  const sdk::Shape kernel = node.List("kernel"), stride = node.List("stride");
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t reach =
        (node.output_shape.at(1 + axis) - 1) * stride.at(axis) + kernel.at(axis);
    padding[2 + axis] = std::max<std::int64_t>(0, reach - padding[axis] - input_shape.at(1 + axis));
  }
  return padding;
}

inline std::unique_ptr<Layer> MakeMaxPool2d(const sdk::Node& node, const Surroundings& around) {
  const sdk::Shape padding = node.List("padding");
  auto options =
      F::MaxPool2dFuncOptions(Pair(node.List("kernel"))).stride(Pair(node.List("stride")));
  if (SameOnBothSides(padding)) {
    options.padding(Pair(padding)).ceil_mode(node.Bool("ceil_mode"));
    return std::make_unique<FunctionLayer>(
        [options](const Tensors& inputs) { return F::max_pool2d(inputs[0], options); });
  }
  // Padding must never be the largest: with zeros it would be wherever all inputs are negative.
  const auto pad =
      Pad(WindowPadding(node, around.input_shape), -std::numeric_limits<double>::infinity());
  return std::make_unique<FunctionLayer>([options, pad](const Tensors& inputs) {
    return F::max_pool2d(F::pad(inputs[0], pad), options);
  });
}

/// Elements of each window along one axis: with the padding asked for, or inside alone.
inline torch::Tensor WindowCounts(const sdk::Node& node, const sdk::Shape& input_shape,
                                  std::size_t axis) {
  const std::int64_t before = node.List("padding").at(axis);
  const std::int64_t after = node.List("padding").at(2 + axis);
  const std::int64_t size = input_shape.at(1 + axis);
  std::vector<float> counts;
  for (std::int64_t window = 0; window < node.output_shape.at(1 + axis); ++window) {
    const std::int64_t begin = window * node.List("stride").at(axis) - before;
    const std::int64_t end = begin + node.List("kernel").at(axis);
    const std::int64_t count = node.Bool("count_padding")
                                   ? std::min(end, size + after) - begin
                                   : std::min(end, size) - std::max<std::int64_t>(begin, 0);
    counts.push_back(static_cast<float>(count));
  }
  return torch::tensor(counts);
}

inline std::unique_ptr<Layer> MakeAvgPool2d(const sdk::Node& node, const Surroundings& around) {
  const sdk::Shape padding = node.List("padding");
  auto options =
      F::AvgPool2dFuncOptions(Pair(node.List("kernel"))).stride(Pair(node.List("stride")));
  if (SameOnBothSides(padding)) {
    options.padding(Pair(padding))
        .ceil_mode(node.Bool("ceil_mode"))
        .count_include_pad(node.Bool("count_padding"));
    return std::make_unique<FunctionLayer>(
        [options](const Tensors& inputs) { return F::avg_pool2d(inputs[0], options); });
  }
  // The window's sum by its own divisor: torch knows no padding that differs between sides.
  options.divisor_override(1);
  const auto pad = Pad(WindowPadding(node, around.input_shape), 0.0);
  const torch::Tensor divisor = WindowCounts(node, around.input_shape, 0).unsqueeze(1) *
                                WindowCounts(node, around.input_shape, 1).unsqueeze(0);
  return std::make_unique<FunctionLayer>([options, pad, divisor](const Tensors& inputs) {
    return F::avg_pool2d(F::pad(inputs[0], pad), options) / divisor;
  });
}

/// torch divides alpha by the window's size, as docs/networks.md does.
inline std::unique_ptr<Layer> MakeLrn(const sdk::Node& node, const Surroundings& /*around*/) {
  const std::int64_t size = node.Integer("size");
  if (size % 2 == 0) {
    throw sdk::Unsupported("node " + node.name +
                           ": PyTorch's local_response_norm centres a window of odd size only, "
                           "not of " +
                           std::to_string(size));
  }
  const auto options = F::LocalResponseNormFuncOptions(size)
                           .alpha(node.Real("alpha"))
                           .beta(node.Real("beta"))
                           .k(node.Real("k"));
  return std::make_unique<FunctionLayer>(
      [options](const Tensors& inputs) { return F::local_response_norm(inputs[0], options); });
}

inline std::unique_ptr<Layer> MakeBatchNorm(const sdk::Node& node, const Surroundings& around) {
  const sdk::Shape& shape = around.input_shape;
  if (node.Text("running_variance") != "unbiased") {
    throw sdk::Unsupported("node " + node.name +
                           ": PyTorch's batch norm keeps the unbiased running variance, not the " +
                           node.Text("running_variance") + " one");
  }
  if (around.spec.batch * sdk::ElementCount({shape.begin() + 1, shape.end()}) == 1) {
    throw sdk::Unsupported("node " + node.name +
                           ": PyTorch's batch norm needs more than one value a channel");
  }
  const auto options = torch::nn::BatchNormOptions(shape.at(0))
                           .eps(node.Real("epsilon"))
                           .momentum(node.Real("momentum"));
  if (shape.size() == 3) {
    return std::make_unique<ModuleLayer<torch::nn::BatchNorm2d>>(torch::nn::BatchNorm2d(options));
  }
  return std::make_unique<ModuleLayer<torch::nn::BatchNorm1d>>(torch::nn::BatchNorm1d(options));
}

/// The shortcut without parameters: every stride-th row and column, then channels of zeros.
inline std::unique_ptr<Layer> MakeSubsamplePad(const sdk::Node& node,
                                               const Surroundings& /*around*/) {
  using torch::indexing::Slice;
  const Slice every(torch::indexing::None, torch::indexing::None, node.Integer("stride"));
  const auto pad = F::PadFuncOptions(
      {0, 0, 0, 0, node.Integer("channels_before"), node.Integer("channels_after")});
  return std::make_unique<FunctionLayer>([every, pad](const Tensors& inputs) {
    return F::pad(inputs[0].index({Slice(), Slice(), every, every}), pad);
  });
}

}  // namespace dlbench::libtorch
