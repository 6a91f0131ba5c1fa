#include <cmath>

#include "reference/layers/layer.h"
#include "reference/parallel.h"

namespace dlbench::reference {
namespace {

// Batch normalisation in training (Ioffe and Szegedy 2015, algorithm 1; PyTorch:
// torch.nn.BatchNorm2d). Over the n values of a channel, batch and image:
//   m = mean of x,  v = mean of (x - m)^2,  z = (x - m) / sqrt(v + epsilon),  y = weight z + bias
//   d weight = sum of dy z,  d bias = sum of dy
//   dx = weight / sqrt(v + epsilon) * (dy - mean of dy - z * mean of dy z)
// Afterwards running_mean <- (1 - momentum) running_mean + momentum m, and running_variance
// likewise with v, or with v n / (n - 1) if "unbiased".
template <class Scalar>
class BatchNorm final : public UnaryLayer<Scalar> {
 public:
  BatchNorm(const network::Node& node, std::int64_t batch, Sums<Scalar>& sums)
      : channels_(node.output_shape.front()),
        epsilon_(static_cast<Scalar>(node.Real("epsilon"))),
        momentum_(static_cast<Scalar>(node.Real("momentum"))),
        unbiased_(node.Text("running_variance") == "unbiased"),
        sums_(sums),
        weight_(TensorFor<Scalar>(node.parameters[0])),
        bias_(TensorFor<Scalar>(node.parameters[1])),
        running_mean_(TensorFor<Scalar>(node.buffers[0], batch)),
        running_variance_(TensorFor<Scalar>(node.buffers[1], batch)),
        mean_(1, channels_),
        inverse_(1, channels_) {}

  std::vector<ParameterTensor<Scalar>*> Parameters() override { return {&weight_, &bias_}; }
  std::vector<BufferTensor<Scalar>*> Buffers() override {
    return {&running_mean_, &running_variance_};
  }

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    const std::int64_t part = x.columns / channels_;
    const auto count = static_cast<Scalar>(x.rows * part);
    Scalar* mean = mean_.row(0);
    sums_.AddChannels(x, channels_, mean_.values,
                      [](Scalar value, std::int64_t, std::int64_t) { return value; });
    for (std::int64_t c = 0; c < channels_; ++c) mean[c] /= count;
    Matrix<Scalar> variance(1, channels_);
    sums_.AddChannels(x, channels_, variance.values,
                      [&](Scalar value, std::int64_t, std::int64_t index) {
                        const Scalar distance = value - mean[index / part];
                        return distance * distance;
                      });
    for (std::int64_t c = 0; c < channels_; ++c) {
      Scalar& v = variance.row(0)[c];
      v /= count;
      inverse_.row(0)[c] = 1 / std::sqrt(v + epsilon_);
      const Scalar stored = unbiased_ ? v * (count / (count - 1)) : v;
      running_mean_.next.row(0)[c] =
          (1 - momentum_) * running_mean_.value.row(0)[c] + momentum_ * mean[c];
      running_variance_.next.row(0)[c] =
          (1 - momentum_) * running_variance_.value.row(0)[c] + momentum_ * stored;
    }
    ForEachChannel(x.rows, [&](std::int64_t row, std::int64_t c) {
      const Scalar* from = x.row(row) + c * part;
      Scalar* to = y.row(row) + c * part;
      const Scalar scale = inverse_.row(0)[c] * weight_.value.row(0)[c];
      for (std::int64_t i = 0; i < part; ++i) {
        to[i] = (from[i] - mean[c]) * scale + bias_.value.row(0)[c];
      }
    });
  }

  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>& /*y*/, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    const std::int64_t part = x.columns / channels_;
    const auto count = static_cast<Scalar>(x.rows * part);
    const Scalar* mean = mean_.row(0);
    const Scalar* inverse = inverse_.row(0);
    sums_.AddChannels(dy, channels_, bias_.gradient.values,
                      [](Scalar value, std::int64_t, std::int64_t) { return value; });
    sums_.AddChannels(dy, channels_, weight_.gradient.values,
                      [&](Scalar value, std::int64_t row, std::int64_t index) {
                        const std::int64_t c = index / part;
                        return value * ((x.row(row)[index] - mean[c]) * inverse[c]);
                      });
    if (dx == nullptr) return;
    ForEachChannel(x.rows, [&](std::int64_t row, std::int64_t c) {
      const Scalar* from = x.row(row) + c * part;
      const Scalar* gradient = dy.row(row) + c * part;
      Scalar* to = dx->row(row) + c * part;
      const Scalar scale = inverse[c] * weight_.value.row(0)[c];
      const Scalar mean_dy = bias_.gradient.row(0)[c] / count;
      const Scalar mean_dy_z = weight_.gradient.row(0)[c] / count;
      for (std::int64_t i = 0; i < part; ++i) {
        const Scalar z = (from[i] - mean[c]) * inverse[c];
        to[i] = scale * (gradient[i] - mean_dy - z * mean_dy_z);
      }
    });
  }

 private:
  template <class Work>
  void ForEachChannel(std::int64_t rows, Work work) const {
    ParallelFor(rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t c = 0; c < channels_; ++c) work(row, c);
      }
    });
  }

  const std::int64_t channels_;
  const Scalar epsilon_;
  const Scalar momentum_;
  const bool unbiased_;
  Sums<Scalar>& sums_;
  ParameterTensor<Scalar> weight_;
  ParameterTensor<Scalar> bias_;
  BufferTensor<Scalar> running_mean_;
  BufferTensor<Scalar> running_variance_;
  Matrix<Scalar> mean_;     ///< Of the last batch.
  Matrix<Scalar> inverse_;  ///< 1 / sqrt(v + epsilon).
};

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakeBatchNorm(const LayerSource& source, Sums<Scalar>& sums) {
  const network::Shape& input = source.input_shapes[0];
  DLBENCH_RETURN_IF_ERROR(CheckOutput(source, input));
  DLBENCH_RETURN_IF_ERROR(CheckParameters(source, {{input.front()}, {input.front()}},
                                          "batch_norm of " + network::ToString(input)));
  const std::int64_t values = source.batch * network::ElementCount(input) / input.front();
  if (input.size() == 2 || source.node->buffers.size() != 2 || values < 2) {
    return Error(ErrorCode::kInput,
                 "node '" + source.node->name +
                     "': batch_norm needs an image or a vector, its two running "
                     "values and more than one value of each channel in a batch");
  }
  return LayerPtr<Scalar>(std::make_unique<BatchNorm<Scalar>>(*source.node, source.batch, sums));
}

template Result<LayerPtr<float>> MakeBatchNorm(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakeBatchNorm(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
