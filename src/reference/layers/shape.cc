#include <algorithm>
#include <stdexcept>

#include "reference/layers/elementwise.h"
#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

// y = a + b.
template <class Scalar>
class Add final : public Layer<Scalar> {
 public:
  void Forward(Inputs<Scalar> x, Matrix<Scalar>& y) override {
    Map(*x[0], *x[1], y, [](Scalar a, Scalar b) { return a + b; });
  }
  void Backward(Inputs<Scalar>, const Matrix<Scalar>&, const Matrix<Scalar>& dy,
                InputGradients<Scalar> dx) override {
    for (Matrix<Scalar>* gradient : dx) {
      if (gradient != nullptr) gradient->values = dy.values;
    }
  }
};

// The same values in another shape: images are stored channel by channel, row by row already.
template <class Scalar>
class Flatten final : public UnaryLayer<Scalar> {
 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override { y.values = x.values; }
  void Differentiate(const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx != nullptr) dx->values = dy.values;
  }
};

// Every stride-th row and column, channels of zeros around (He and others 2015, 3.3, option A).
template <class Scalar>
class SubsamplePad final : public UnaryLayer<Scalar> {
 public:
  SubsamplePad(const network::Node& node, const network::Shape& image)
      : stride_(node.Int("stride")),
        before_(node.Int("channels_before")),
        image_(image),
        output_(node.output_shape) {}

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    std::fill(y.values.begin(), y.values.end(), Scalar{0});
    ForEachPixel(x.rows, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
      y.row(row)[to] = x.row(row)[from];
    });
  }
  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>&, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx == nullptr) return;
    std::fill(dx->values.begin(), dx->values.end(), Scalar{0});
    ForEachPixel(x.rows, [&](std::int64_t row, std::int64_t from, std::int64_t to) {
      dx->row(row)[from] = dy.row(row)[to];
    });
  }

 private:
  /// Calls `work(row, index in the input, index in the output)` for each pixel that is taken.
  template <class Work>
  void ForEachPixel(std::int64_t rows, Work work) const {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t c = 0; c < image_[0]; ++c) {
        for (std::int64_t i = 0; i < output_[1]; ++i) {
          for (std::int64_t j = 0; j < output_[2]; ++j) {
            work(row, (c * image_[1] + i * stride_) * image_[2] + j * stride_,
                 ((c + before_) * output_[1] + i) * output_[2] + j);
          }
        }
      }
    }
  }

  const std::int64_t stride_;
  const std::int64_t before_;
  const network::Shape image_;
  const network::Shape output_;
};

// y = x mask / (1 - probability) with a given mask (Srivastava and others 2014, scaled in
// training).
template <class Scalar>
class Dropout final : public UnaryLayer<Scalar> {
 public:
  explicit Dropout(const network::Node& node)
      : name_(node.name), scale_(static_cast<Scalar>(1.0 / (1.0 - node.Real("probability")))) {}

  void SetMask(std::span<const std::uint8_t> mask) override { mask_ = mask; }

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override { Scale(x, y); }
  void Differentiate(const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx != nullptr) Scale(dy, *dx);
  }

 private:
  void Scale(const Matrix<Scalar>& from, Matrix<Scalar>& to) const {
    if (mask_.size() != from.values.size()) {
      throw std::invalid_argument("reference batch: the mask of '" + name_ + "' has " +
                                  std::to_string(mask_.size()) + " elements, not " +
                                  std::to_string(from.values.size()));
    }
    for (std::size_t i = 0; i < mask_.size(); ++i) {
      to.values[i] = mask_[i] != 0 ? from.values[i] * scale_ : Scalar{0};
    }
  }

  const std::string name_;
  const Scalar scale_;
  std::span<const std::uint8_t> mask_;
};

}  // namespace

template <class Scalar>
LayerPtr<Scalar> MakeAdd() {
  return std::make_unique<Add<Scalar>>();
}
template <class Scalar>
LayerPtr<Scalar> MakeFlatten() {
  return std::make_unique<Flatten<Scalar>>();
}
template <class Scalar>
LayerPtr<Scalar> MakeDropout(const LayerSource& source) {
  return std::make_unique<Dropout<Scalar>>(*source.node);
}
template <class Scalar>
Result<LayerPtr<Scalar>> MakeSubsamplePad(const LayerSource& source) {
  const network::Node& node = *source.node;
  const network::Shape& image = source.input_shapes[0];
  if (image.size() != 3) {
    return Error(ErrorCode::kInput, "node '" + node.name +
                                        "': subsample_pad cannot take the shape " +
                                        network::ToString(image));
  }
  const std::int64_t stride = node.Int("stride");
  DLBENCH_RETURN_IF_ERROR(
      CheckOutput(source, {image[0] + node.Int("channels_before") + node.Int("channels_after"),
                           (image[1] + stride - 1) / stride, (image[2] + stride - 1) / stride}));
  return LayerPtr<Scalar>(std::make_unique<SubsamplePad<Scalar>>(node, image));
}

template LayerPtr<float> MakeAdd();
template LayerPtr<double> MakeAdd();
template LayerPtr<float> MakeFlatten();
template LayerPtr<double> MakeFlatten();
template LayerPtr<float> MakeDropout(const LayerSource&);
template LayerPtr<double> MakeDropout(const LayerSource&);
template Result<LayerPtr<float>> MakeSubsamplePad(const LayerSource&);
template Result<LayerPtr<double>> MakeSubsamplePad(const LayerSource&);

}  // namespace dlbench::reference
