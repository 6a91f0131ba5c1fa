#include <algorithm>

#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

// Fully connected layer (PyTorch: torch.nn.Linear). With W [out, in], b [out] and one sample, or
// one token of one, a row:
//   y  = x W^T + b
//   dW = dy^T x         the chain rule for y_so = sum_i x_si W_oi + b_o, summed over samples s
//   db = sum_s dy_s
//   dx = dy W
template <class Scalar>
class Dense final : public UnaryLayer<Scalar> {
 public:
  Dense(const network::Node& node, Sums<Scalar>& sums) : sums_(sums) {
    weight_ = TensorFor<Scalar>(node.parameters[0]);
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
    if (bias_first) {
      for (std::int64_t row = 0; row < y.rows; ++row) {
        std::copy_n(bias_.value.row(0), y.columns, y.row(row));
      }
    }
    sums_.TimesTransposed(x, weight_.value, y, bias_first);
    if (!has_bias_ || bias_first) return;
    for (std::int64_t row = 0; row < y.rows; ++row) {
      for (std::int64_t j = 0; j < y.columns; ++j) y.row(row)[j] += bias_.value.row(0)[j];
    }
  }

  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>&, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    sums_.TransposedTimes(dy, x, weight_.gradient);
    if (has_bias_) sums_.AddRows(dy, bias_.gradient.values);
    if (dx != nullptr) sums_.Times(dy, weight_.value, *dx);
  }

 private:
  Sums<Scalar>& sums_;
  ParameterTensor<Scalar> weight_;
  ParameterTensor<Scalar> bias_;
  bool has_bias_ = false;
};

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakeDense(const LayerSource& source, Sums<Scalar>& sums) {
  const network::Node& node = *source.node;
  const network::Shape& input = source.input_shapes[0];
  const std::int64_t units = node.Int("units");
  std::vector<network::Shape> expected = {{units, input.back()}};
  if (node.Bool("bias")) expected.push_back({units});
  DLBENCH_RETURN_IF_ERROR(CheckParameters(source, expected,
                                          "a dense layer of " + std::to_string(units) +
                                              " units on " + std::to_string(input.back()) +
                                              " inputs"));
  network::Shape output = input;
  output.back() = units;
  DLBENCH_RETURN_IF_ERROR(CheckOutput(source, output));
  return LayerPtr<Scalar>(std::make_unique<Dense<Scalar>>(node, sums));
}

template Result<LayerPtr<float>> MakeDense(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakeDense(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
