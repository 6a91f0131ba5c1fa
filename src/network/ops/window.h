#pragma once

#include "network/ops/op.h"

namespace dlbench::network {

/// A window that slides over the rows and columns of an image.
struct Window {
  Shape kernel;   ///< [height, width].
  Shape stride;   ///< [height, width].
  Shape padding;  ///< [top, left, bottom, right].
};

/// Attributes of every op with a window.
std::vector<AttributeSpec> WindowAttributes();
/// The window that the attributes describe.
Window WindowOf(const Attributes& attributes);

/// The [height, width] of the output for an image [channels, height, width]:
///   (size + padding before + padding after - kernel) / stride + 1, rounded down, or with
/// `ceil_mode` up; then a last window that begins beyond the image and its padding before is left
/// out. Source: PyTorch, torch.nn.MaxPool2d, "ceil_mode". kInput where the input is no image, the
/// window is larger than the padded image, or a padding exceeds `most_padding` of its side's
/// kernel.
Result<Shape> SlideWindow(const Shape& image, const Window& window, bool ceil_mode,
                          std::int64_t (*most_padding)(std::int64_t kernel));

}  // namespace dlbench::network
