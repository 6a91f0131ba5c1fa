#include <algorithm>
#include <array>

#include "reference/layers/layer.h"
#include "reference/parallel.h"

namespace dlbench::reference {
namespace {

struct Geometry {
  std::int64_t channels = 0, height = 0, width = 0, out_h = 0, out_w = 0;
  std::int64_t kernel_h = 0, kernel_w = 0, stride_h = 1, stride_w = 1;
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool count_padding = false;
};

/// The part of a window that lies inside the image.
struct Span {
  std::int64_t begin = 0, end = 0;  ///< Of rows or columns of the image.
  std::int64_t padded = 0;          ///< Its length within the padded image.
};

Span SpanOf(std::int64_t index, std::int64_t stride, std::int64_t before, std::int64_t kernel,
            std::int64_t size, std::int64_t after) {
  const std::int64_t begin = index * stride - before;
  const std::int64_t end = std::min(begin + kernel, size + after);
  return {std::max<std::int64_t>(begin, 0), std::min(end, size), end - begin};
}

// Pooling (PyTorch: torch.nn.MaxPool2d, torch.nn.AvgPool2d): of each window the largest value
// inside the image, or the sum over a divisor. The divisor counts the window's elements inside the
// image or, with count_padding, inside the padded image. Of equal largest values the first one, row
// by row, gets the gradient.
template <class Scalar>
class Pool2d final : public UnaryLayer<Scalar> {
 public:
  Pool2d(const Geometry& geometry, bool largest) : geometry_(geometry), largest_(largest) {}

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    ForEachPlane(x.rows, [&](std::int64_t image, std::int64_t channel) {
      const Scalar* from = x.row(image) + channel * geometry_.height * geometry_.width;
      Scalar* to = y.row(image) + channel * geometry_.out_h * geometry_.out_w;
      ForEachWindow([&](std::int64_t index, const Span& rows, const Span& columns) {
        if (largest_) {
          to[index] = from[Largest(from, rows, columns)];
          return;
        }
        Scalar sum{0};
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
          for (std::int64_t j = columns.begin; j < columns.end; ++j) {
            sum += from[i * geometry_.width + j];
          }
        }
        to[index] = sum / Divisor(rows, columns);
      });
    });
  }

  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>& /*y*/, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx == nullptr) return;
    ForEachPlane(x.rows, [&](std::int64_t image, std::int64_t channel) {
      const std::int64_t plane = channel * geometry_.height * geometry_.width;
      const Scalar* from = x.row(image) + plane;
      Scalar* to = dx->row(image) + plane;
      std::fill_n(to, geometry_.height * geometry_.width, Scalar{0});
      const Scalar* gradient = dy.row(image) + channel * geometry_.out_h * geometry_.out_w;
      ForEachWindow([&](std::int64_t index, const Span& rows, const Span& columns) {
        if (largest_) {
          to[Largest(from, rows, columns)] += gradient[index];
          return;
        }
        const Scalar share = gradient[index] / Divisor(rows, columns);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
          for (std::int64_t j = columns.begin; j < columns.end; ++j) {
            to[i * geometry_.width + j] += share;
          }
        }
      });
    });
  }

 private:
  template <class Work>
  void ForEachPlane(std::int64_t batch, Work work) const {
    ParallelFor(batch, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t image = begin; image < end; ++image) {
        for (std::int64_t channel = 0; channel < geometry_.channels; ++channel) {
          work(image, channel);
        }
      }
    });
  }

  template <class Work>
  void ForEachWindow(Work work) const {
    for (std::int64_t i = 0; i < geometry_.out_h; ++i) {
      const Span rows = SpanOf(i, geometry_.stride_h, geometry_.top, geometry_.kernel_h,
                               geometry_.height, geometry_.bottom);
      for (std::int64_t j = 0; j < geometry_.out_w; ++j) {
        const Span columns = SpanOf(j, geometry_.stride_w, geometry_.left, geometry_.kernel_w,
                                    geometry_.width, geometry_.right);
        work(i * geometry_.out_w + j, rows, columns);
      }
    }
  }

  /// Where the first largest value of a window is; a NaN counts as the largest.
  std::int64_t Largest(const Scalar* plane, const Span& rows, const Span& columns) const {
    std::int64_t best = rows.begin * geometry_.width + columns.begin;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        const std::int64_t at = i * geometry_.width + j;
        if (plane[at] > plane[best] || plane[at] != plane[at]) best = at;
      }
    }
    return best;
  }

  Scalar Divisor(const Span& rows, const Span& columns) const {
    const std::int64_t count = geometry_.count_padding
                                   ? rows.padded * columns.padded
                                   : (rows.end - rows.begin) * (columns.end - columns.begin);
    return static_cast<Scalar>(count);
  }

  const Geometry geometry_;
  const bool largest_;
};

// The mean of each channel: y[c] = sum of x[c] / (height width).
template <class Scalar>
class GlobalAvgPool final : public UnaryLayer<Scalar> {
 public:
  GlobalAvgPool(std::int64_t channels, Sums<Scalar>& sums) : channels_(channels), sums_(sums) {}

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    const auto part = static_cast<std::size_t>(x.columns / channels_);
    for (std::int64_t row = 0; row < x.rows; ++row) {
      for (std::int64_t channel = 0; channel < channels_; ++channel) {
        const std::span<const Scalar> plane(x.row(row) + static_cast<std::size_t>(channel) * part,
                                            part);
        y.row(row)[channel] = sums_.Add(plane) / static_cast<Scalar>(part);
      }
    }
  }

  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>& /*y*/, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx == nullptr) return;
    const std::int64_t part = x.columns / channels_;
    for (std::int64_t row = 0; row < x.rows; ++row) {
      for (std::int64_t channel = 0; channel < channels_; ++channel) {
        std::fill_n(dx->row(row) + channel * part, part,
                    dy.row(row)[channel] / static_cast<Scalar>(part));
      }
    }
  }

 private:
  const std::int64_t channels_;
  Sums<Scalar>& sums_;
};

Error NoImage(const LayerSource& source) {
  return Error(ErrorCode::kInput, "node '" + source.node->name + "': " + source.node->op +
                                      " cannot take the shape " +
                                      network::ToString(source.input_shapes[0]));
}

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakePool2d(const LayerSource& source, Sums<Scalar>& /*sums*/) {
  const network::Node& node = *source.node;
  const network::Shape& image = source.input_shapes[0];
  if (image.size() != 3 || node.output_shape.size() != 3 || node.output_shape[0] != image[0]) {
    return NoImage(source);
  }
  const auto& kernel = node.List("kernel");
  const auto& stride = node.List("stride");
  const auto& padding = node.List("padding");
  const bool largest = node.op == "max_pool2d";
  const Geometry geometry{image[0],
                          image[1],
                          image[2],
                          node.output_shape[1],
                          node.output_shape[2],
                          kernel[0],
                          kernel[1],
                          stride[0],
                          stride[1],
                          padding[0],
                          padding[1],
                          padding[2],
                          padding[3],
                          !largest && node.Bool("count_padding")};
  for (const auto& [out, step, before, size] :
       {std::array{geometry.out_h, geometry.stride_h, geometry.top, geometry.height},
        std::array{geometry.out_w, geometry.stride_w, geometry.left, geometry.width}}) {
    if ((out - 1) * step >= size + before) return NoImage(source);  // a window without a pixel
  }
  return LayerPtr<Scalar>(std::make_unique<Pool2d<Scalar>>(geometry, largest));
}

template <class Scalar>
Result<LayerPtr<Scalar>> MakeGlobalAvgPool(const LayerSource& source, Sums<Scalar>& sums) {
  const network::Shape& image = source.input_shapes[0];
  if (image.size() != 3) return NoImage(source);
  DLBENCH_RETURN_IF_ERROR(CheckOutput(source, {image[0], 1, 1}));
  return LayerPtr<Scalar>(std::make_unique<GlobalAvgPool<Scalar>>(image[0], sums));
}

template Result<LayerPtr<float>> MakePool2d(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakePool2d(const LayerSource&, Sums<double>&);
template Result<LayerPtr<float>> MakeGlobalAvgPool(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakeGlobalAvgPool(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
