#include <algorithm>

#include "reference/layers/layer.h"
#include "reference/parallel.h"

namespace dlbench::reference {
namespace {

/// One group's channels of an image seen through a sliding window.
struct Geometry {
  std::int64_t channels = 0, height = 0, width = 0;  ///< Of the image, all groups.
  std::int64_t groups = 1;
  std::int64_t kernel_h = 0, kernel_w = 0, stride_h = 1, stride_w = 1, top = 0, left = 0;
  std::int64_t out_channels = 0, out_h = 0, out_w = 0;

  std::int64_t group_channels() const { return channels / groups; }
  std::int64_t group_outputs() const { return out_channels / groups; }
  std::int64_t positions() const { return out_h * out_w; }
  std::int64_t terms() const { return group_channels() * kernel_h * kernel_w; }
};

// Images are taken together until a product has so many columns, or their windows so many elements.
constexpr std::int64_t kColumns = 4096;
constexpr std::int64_t kWindowElements = 1 << 23;

// Convolution as frameworks define it, a cross-correlation (PyTorch: torch.nn.Conv2d):
//   y[o,i,j] = b[o] + sum over c,u,v of W[o,c,u,v] x[c, i*stride+u-top, j*stride+v-left]
// with zeros outside the image. As products of matrices (Chellapilla, Puri, Simard 2006): let X
// have a column for each position (i,j) of each image and a row for each (c,u,v); then, for one
// group,
//   Y = W X + b,   dW = dY X^T,   dX = W^T dY,   db = sum of dY's columns,
// and dx adds up what dX holds for each pixel.
template <class Scalar>
class Conv2d final : public UnaryLayer<Scalar> {
 public:
  Conv2d(const network::Node& node, const Geometry& geometry, Sums<Scalar>& sums)
      : geometry_(geometry), sums_(sums), weight_(TensorFor<Scalar>(node.parameters[0])) {
    has_bias_ = node.parameters.size() > 1;
    if (has_bias_) bias_ = TensorFor<Scalar>(node.parameters[1]);
  }

  std::vector<ParameterTensor<Scalar>*> Parameters() override {
    if (has_bias_) return {&weight_, &bias_};
    return {&weight_};
  }

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    const bool bias_first = has_bias_ && sums_.BiasFirst();
    ForEachBlock(x.rows, [&](std::int64_t first, std::int64_t images, std::int64_t group) {
      const Matrix<Scalar> weight = WeightOf(group);
      Window(x, first, images, group);
      Resize(outputs_, geometry_.group_outputs(), images * geometry_.positions());
      if (bias_first) FillWithBias(group);
      sums_.Times(weight, windows_, outputs_, bias_first);
      if (has_bias_ && !bias_first) AddBias(group);
      CopyOutputs(y, first, images, group,
                  [](Scalar& inside, Scalar& outside) { outside = inside; });
    });
  }

  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>& /*y*/, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (has_bias_) AddBiasGradient(dy);
    if (dx != nullptr) std::fill(dx->values.begin(), dx->values.end(), Scalar{0});
    ForEachBlock(x.rows, [&](std::int64_t first, std::int64_t images, std::int64_t group) {
      const Matrix<Scalar> weight = WeightOf(group);
      Window(x, first, images, group);
      Resize(outputs_, geometry_.group_outputs(), images * geometry_.positions());
      CopyOutputs(const_cast<Matrix<Scalar>&>(dy), first, images, group,
                  [](Scalar& inside, Scalar& outside) { inside = outside; });
      Resize(weight_gradient_, geometry_.group_outputs(), geometry_.terms());
      if (first > 0) CopyGradient(group, /*in=*/true);
      sums_.TimesTransposed(outputs_, windows_, weight_gradient_, first > 0);
      CopyGradient(group, /*in=*/false);
      if (dx == nullptr) return;
      sums_.TransposedTimes(weight, outputs_, windows_);
      Unwindow(*dx, first, images, group);
    });
  }

 private:
  static void Resize(Matrix<Scalar>& matrix, std::int64_t rows, std::int64_t columns) {
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.values.resize(static_cast<std::size_t>(rows * columns));
  }

  /// Calls `work(first image, images, group)` for all images and groups.
  template <class Work>
  void ForEachBlock(std::int64_t batch, Work work) {
    const std::int64_t by_columns = kColumns / geometry_.positions();
    const std::int64_t by_size = kWindowElements / (geometry_.positions() * geometry_.terms());
    const std::int64_t most = std::max<std::int64_t>(1, std::min(by_columns, by_size));
    for (std::int64_t group = 0; group < geometry_.groups; ++group) {
      for (std::int64_t first = 0; first < batch; first += most) {
        work(first, std::min(most, batch - first), group);
      }
    }
  }

  /// The rows of W that belong to a group. One group has all of them: no copy would be needed, but
  /// its cost is small beside the product's.
  Matrix<Scalar> WeightOf(std::int64_t group) const {
    Matrix<Scalar> weight(geometry_.group_outputs(), geometry_.terms());
    std::copy_n(weight_.value.row(group * weight.rows), weight.values.size(),
                weight.values.begin());
    return weight;
  }

  void CopyGradient(std::int64_t group, bool in) {
    Scalar* whole = weight_.gradient.row(group * weight_gradient_.rows);
    Scalar* part = weight_gradient_.values.data();
    if (in) {
      std::copy_n(whole, weight_gradient_.values.size(), part);
    } else {
      std::copy_n(part, weight_gradient_.values.size(), whole);
    }
  }

  /// Calls `run(row of the windows, image, channel, u, v)` for every row and image, on all cores.
  template <class Run>
  void ForEachWindowRow(std::int64_t images, std::int64_t pieces, Run run) {
    const std::int64_t kernel = geometry_.kernel_h * geometry_.kernel_w;
    ParallelFor(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t channel = begin; channel < end; ++channel) {
        for (std::int64_t image = 0; image < images; ++image) {
          for (std::int64_t k = 0; k < kernel; ++k) {
            run(channel * kernel + k, image, channel, k / geometry_.kernel_w,
                k % geometry_.kernel_w);
          }
        }
      }
    });
  }

  /// For output row i: the image row it reads at kernel row u, or -1 outside.
  std::int64_t RowOf(std::int64_t i, std::int64_t u) const {
    const std::int64_t row = i * geometry_.stride_h + u - geometry_.top;
    return row < geometry_.height ? std::max<std::int64_t>(row, -1) : -1;
  }

  /// The outputs [begin, end) of a row whose window at kernel column v lies inside the image.
  std::pair<std::int64_t, std::int64_t> InsideOf(std::int64_t v) const {
    const std::int64_t shift = geometry_.left - v;  // j * stride >= shift, < width + shift
    const std::int64_t stride = geometry_.stride_w;
    const std::int64_t begin = shift > 0 ? (shift + stride - 1) / stride : 0;
    const std::int64_t last = geometry_.width - 1 + shift;
    const std::int64_t end = last < 0 ? 0 : std::min(geometry_.out_w, last / stride + 1);
    return {std::min(begin, end), end};
  }

  /// windows_ = X of these images.
  void Window(const Matrix<Scalar>& x, std::int64_t first, std::int64_t images,
              std::int64_t group) {
    Resize(windows_, geometry_.terms(), images * geometry_.positions());
    const std::int64_t base = group * geometry_.group_channels();
    ForEachWindowRow(images, geometry_.group_channels(),
                     [&](std::int64_t row, std::int64_t image, std::int64_t channel, std::int64_t u,
                         std::int64_t v) {
                       const Scalar* plane = x.row(first + image) +
                                             (base + channel) * geometry_.height * geometry_.width;
                       Scalar* to = windows_.row(row) + image * geometry_.positions();
                       const auto [begin, end] = InsideOf(v);
                       for (std::int64_t i = 0; i < geometry_.out_h; ++i, to += geometry_.out_w) {
                         const std::int64_t image_row = RowOf(i, u);
                         if (image_row < 0 || begin >= end) {
                           std::fill_n(to, geometry_.out_w, Scalar{0});
                           continue;
                         }
                         std::fill_n(to, begin, Scalar{0});
                         const Scalar* from =
                             plane + image_row * geometry_.width + v - geometry_.left;
                         if (geometry_.stride_w == 1) {
                           std::copy_n(from + begin, end - begin, to + begin);
                         } else {
                           for (std::int64_t j = begin; j < end; ++j)
                             to[j] = from[j * geometry_.stride_w];
                         }
                         std::fill_n(to + end, geometry_.out_w - end, Scalar{0});
                       }
                     });
  }

  /// Adds windows_, which holds dX of these images, to dx.
  void Unwindow(Matrix<Scalar>& dx, std::int64_t first, std::int64_t images, std::int64_t group) {
    const std::int64_t base = group * geometry_.group_channels();
    ForEachWindowRow(images, geometry_.group_channels(),
                     [&](std::int64_t row, std::int64_t image, std::int64_t channel, std::int64_t u,
                         std::int64_t v) {
                       Scalar* plane = dx.row(first + image) +
                                       (base + channel) * geometry_.height * geometry_.width;
                       const Scalar* from = windows_.row(row) + image * geometry_.positions();
                       const auto [begin, end] = InsideOf(v);
                       for (std::int64_t i = 0; i < geometry_.out_h; ++i, from += geometry_.out_w) {
                         const std::int64_t image_row = RowOf(i, u);
                         if (image_row < 0) continue;
                         Scalar* to = plane + image_row * geometry_.width + v - geometry_.left;
                         for (std::int64_t j = begin; j < end; ++j)
                           to[j * geometry_.stride_w] += from[j];
                       }
                     });
  }

  /// Calls `copy(element of outputs_, element of y)` for all outputs of these images and this
  /// group.
  template <class Copy>
  void CopyOutputs(Matrix<Scalar>& y, std::int64_t first, std::int64_t images, std::int64_t group,
                   Copy copy) {
    const std::int64_t positions = geometry_.positions();
    for (std::int64_t o = 0; o < outputs_.rows; ++o) {
      for (std::int64_t image = 0; image < images; ++image) {
        Scalar* inside = outputs_.row(o) + image * positions;
        Scalar* outside = y.row(first + image) + (group * outputs_.rows + o) * positions;
        for (std::int64_t p = 0; p < positions; ++p) copy(inside[p], outside[p]);
      }
    }
  }

  void FillWithBias(std::int64_t group) {
    for (std::int64_t o = 0; o < outputs_.rows; ++o) {
      std::fill_n(outputs_.row(o), outputs_.columns, bias_.value.row(0)[group * outputs_.rows + o]);
    }
  }
  void AddBias(std::int64_t group) {
    for (std::int64_t o = 0; o < outputs_.rows; ++o) {
      const Scalar bias = bias_.value.row(0)[group * outputs_.rows + o];
      for (std::int64_t p = 0; p < outputs_.columns; ++p) outputs_.row(o)[p] += bias;
    }
  }
  void AddBiasGradient(const Matrix<Scalar>& dy) {
    sums_.AddChannels(dy, geometry_.out_channels, bias_.gradient.values,
                      [](Scalar gradient, std::int64_t, std::int64_t) { return gradient; });
  }

  const Geometry geometry_;
  Sums<Scalar>& sums_;
  ParameterTensor<Scalar> weight_;
  ParameterTensor<Scalar> bias_;
  bool has_bias_ = false;
  Matrix<Scalar> windows_;          ///< [terms, positions of all images of a block].
  Matrix<Scalar> outputs_;          ///< [outputs of a group, positions of all images of a block].
  Matrix<Scalar> weight_gradient_;  ///< Of one group.
};

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakeConv2d(const LayerSource& source, Sums<Scalar>& sums) {
  const network::Node& node = *source.node;
  const network::Shape& image = source.input_shapes[0];
  Geometry geometry;
  const auto& kernel = node.List("kernel");
  const auto& stride = node.List("stride");
  const auto& padding = node.List("padding");
  geometry.groups = node.Int("groups");
  geometry.out_channels = node.Int("channels");
  if (image.size() != 3 || image[0] % geometry.groups != 0 ||
      geometry.out_channels % geometry.groups != 0) {
    return Error(ErrorCode::kInput, "node '" + node.name + "': conv2d cannot take the shape " +
                                        network::ToString(image));
  }
  geometry.channels = image[0];
  geometry.height = image[1];
  geometry.width = image[2];
  geometry.kernel_h = kernel[0];
  geometry.kernel_w = kernel[1];
  geometry.stride_h = stride[0];
  geometry.stride_w = stride[1];
  geometry.top = padding[0];
  geometry.left = padding[1];
  geometry.out_h = (image[1] + padding[0] + padding[2] - kernel[0]) / stride[0] + 1;
  geometry.out_w = (image[2] + padding[1] + padding[3] - kernel[1]) / stride[1] + 1;
  DLBENCH_RETURN_IF_ERROR(
      CheckOutput(source, {geometry.out_channels, geometry.out_h, geometry.out_w}));
  std::vector<network::Shape> expected = {
      {geometry.out_channels, geometry.group_channels(), kernel[0], kernel[1]}};
  if (node.Bool("bias")) expected.push_back({geometry.out_channels});
  DLBENCH_RETURN_IF_ERROR(CheckParameters(source, expected, "this conv2d"));
  return LayerPtr<Scalar>(std::make_unique<Conv2d<Scalar>>(node, geometry, sums));
}

template Result<LayerPtr<float>> MakeConv2d(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakeConv2d(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
