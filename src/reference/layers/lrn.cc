#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/layers/layer.h"
#include "reference/parallel.h"

namespace dlbench::reference {
namespace {

// Local response normalisation across channels (Krizhevsky, Sutskever, Hinton 2012, 3.3; alpha /
// size as in Caffe and PyTorch: torch.nn.LocalResponseNorm). With the window of `size` channels
// around c:
//   s[c] = k + alpha/size * sum over c' around c of x[c']^2,   y[c] = x[c] s[c]^-beta
//   dx[c] = dy[c] s[c]^-beta - 2 alpha beta/size x[c] * sum over c' around c of dy[c'] y[c'] /
//   s[c']
template <class Scalar>
class Lrn final : public UnaryLayer<Scalar> {
 public:
  Lrn(const network::Node& node, std::int64_t channels, Sums<Scalar>& sums)
      : channels_(channels),
        half_(node.Int("size") / 2),
        share_(static_cast<Scalar>(node.Real("alpha") / static_cast<double>(node.Int("size")))),
        beta_(static_cast<Scalar>(node.Real("beta"))),
        k_(static_cast<Scalar>(node.Real("k"))),
        backwards_(sums.BiasFirst()) {}

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    ForEachColumn(x, [&](std::int64_t row, std::int64_t at, std::int64_t step) {
      const Scalar* values = x.row(row) + at;
      for (std::int64_t c = 0; c < channels_; ++c) {
        y.row(row)[at + c * step] = values[c * step] * std::pow(ScaleOf(values, c, step), -beta_);
      }
    });
  }

  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>& y, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx == nullptr) return;
    ForEachColumn(x, [&](std::int64_t row, std::int64_t at, std::int64_t step) {
      const Scalar* values = x.row(row) + at;
      std::vector<Scalar> scales(static_cast<std::size_t>(channels_));
      std::vector<Scalar> terms(static_cast<std::size_t>(channels_));
      for (std::int64_t c = 0; c < channels_; ++c) {
        const auto index = static_cast<std::size_t>(c);
        scales[index] = ScaleOf(values, c, step);
        terms[index] = dy.row(row)[at + c * step] * y.row(row)[at + c * step] / scales[index];
      }
      for (std::int64_t c = 0; c < channels_; ++c) {
        const Scalar own =
            dy.row(row)[at + c * step] * std::pow(scales[static_cast<std::size_t>(c)], -beta_);
        const Scalar others = AddWindow(
            c, [&](std::int64_t other) { return terms[static_cast<std::size_t>(other)]; });
        dx->row(row)[at + c * step] = own - 2 * share_ * beta_ * values[c * step] * others;
      }
    });
  }

 private:
  /// Calls `work(row, offset of channel 0, distance of channels)` for every pixel, on all cores.
  template <class Work>
  void ForEachColumn(const Matrix<Scalar>& x, Work work) const {
    const std::int64_t plane = x.columns / channels_;
    ParallelFor(x.rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t at = 0; at < plane; ++at) work(row, at, plane);
      }
    });
  }

  template <class Term>
  Scalar AddWindow(std::int64_t c, Term term) const {
    const std::int64_t first = std::max<std::int64_t>(0, c - half_);
    const std::int64_t last = std::min(channels_ - 1, c + half_);
    Scalar sum{0};
    for (std::int64_t i = 0; i <= last - first; ++i) {
      sum += term(backwards_ ? last - i : first + i);
    }
    return sum;
  }

  Scalar ScaleOf(const Scalar* values, std::int64_t c, std::int64_t step) const {
    return k_ + share_ * AddWindow(c, [&](std::int64_t other) {
                  return values[other * step] * values[other * step];
                });
  }

  const std::int64_t channels_;
  const std::int64_t half_;
  const Scalar share_;
  const Scalar beta_;
  const Scalar k_;
  const bool backwards_;  ///< Odd summation orders add a window's terms from its end.
};

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakeLrn(const LayerSource& source, Sums<Scalar>& sums) {
  const network::Shape& image = source.input_shapes[0];
  DLBENCH_RETURN_IF_ERROR(CheckOutput(source, image));
  if (image.size() != 3 || source.node->Int("size") % 2 == 0) {
    return Error(ErrorCode::kInput,
                 "node '" + source.node->name + "': lrn takes images and a window of odd size");
  }
  return LayerPtr<Scalar>(std::make_unique<Lrn<Scalar>>(*source.node, image[0], sums));
}

template Result<LayerPtr<float>> MakeLrn(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakeLrn(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
