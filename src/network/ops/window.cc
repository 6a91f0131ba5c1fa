#include "network/ops/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dlbench::network {
namespace {

/// Sizes of windows and steps beyond this are mistakes, and sums of them stay far from overflow.
constexpr double kLargest = 65536;

Error Bad(const std::string& what) { return Error(ErrorCode::kInput, what); }

}  // namespace

std::vector<AttributeSpec> WindowAttributes() {
  using Kind = AttributeSpec::Kind;
  return {{"kernel", Kind::kIntegers, 1, kLargest, {}, 2},
          {"stride", Kind::kIntegers, 1, kLargest, {}, 2},
          {"padding", Kind::kIntegers, 0, kLargest, {}, 4}};
}

Window WindowOf(const Attributes& attributes) {
  return {std::get<Shape>(attributes.at("kernel")), std::get<Shape>(attributes.at("stride")),
          std::get<Shape>(attributes.at("padding"))};
}

Result<Shape> SlideWindow(const Shape& image, const Window& window, bool ceil_mode,
                          std::int64_t (*most_padding)(std::int64_t kernel)) {
  DLBENCH_RETURN_IF_ERROR(CheckImage(image));
  Shape output;
  constexpr std::array<const char*, 2> kSides = {"height", "width"};
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int64_t size = image[side + 1];
    const std::int64_t before = window.padding[side];
    const std::int64_t after = window.padding[side + 2];
    const std::int64_t kernel = window.kernel[side];
    const std::int64_t stride = window.stride[side];
    if (before > most_padding(kernel) || after > most_padding(kernel)) {
      return Bad(
          fmt::format("its padding {} is more than {}, the most for a kernel of {} "
                      "({}); pad less or use a larger kernel",
                      std::max(before, after), most_padding(kernel), kernel, kSides[side]));
    }
    const std::int64_t slack = size + before + after - kernel;
    if (slack < 0) {
      return Bad(
          fmt::format("its kernel of {} is larger than the {} {} of its input with {} of "
                      "padding; use a smaller kernel or more padding",
                      kernel, kSides[side], size, before + after));
    }
    std::int64_t count = (slack + (ceil_mode ? stride - 1 : 0)) / stride + 1;
    if (ceil_mode && (count - 1) * stride >= size + before) --count;
    output.push_back(count);
  }
  return output;
}

}  // namespace dlbench::network
