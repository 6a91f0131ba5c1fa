#include <algorithm>

#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

// Fully connected layer (PyTorch: torch.nn.Linear). With W [out, in], b [out] and one sample a row:
//   y  = x W^T + b
//   dW = dy^T x         the chain rule for y_so = sum_i x_si W_oi + b_o, summed over samples s
//   db = sum_s dy_s
//   dx = dy W
template <class Scalar>
class Dense final : public Layer<Scalar> {
 public:
  Dense(const network::Node& node, Sums<Scalar>& sums) : sums_(sums) {
    weight_ = MakeTensor(node.parameters[0]);
    has_bias_ = node.parameters.size() > 1;
    if (has_bias_) bias_ = MakeTensor(node.parameters[1]);
  }

  void Forward(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
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

  void Backward(const Matrix<Scalar>& x, const Matrix<Scalar>&, const Matrix<Scalar>& dy,
                Matrix<Scalar>* dx) override {
    sums_.TransposedTimes(dy, x, weight_.gradient);
    if (has_bias_) sums_.AddRows(dy, bias_.gradient.values);
    if (dx != nullptr) sums_.Times(dy, weight_.value, *dx);
  }

  std::vector<ParameterTensor<Scalar>*> Parameters() override {
    if (has_bias_) return {&weight_, &bias_};
    return {&weight_};
  }

 private:
  static ParameterTensor<Scalar> MakeTensor(const network::Parameter& parameter) {
    const std::int64_t rows = parameter.shape.size() > 1 ? parameter.shape[0] : 1;
    const Matrix<Scalar> zeros(rows, parameter.shape.back());
    return {parameter.name, parameter.decays, zeros, zeros, zeros};
  }

  Sums<Scalar>& sums_;
  ParameterTensor<Scalar> weight_;
  ParameterTensor<Scalar> bias_;
  bool has_bias_ = false;
};

// The parser has checked this; a network built by hand has not been through it.
Status CheckShapes(const network::Node& node, std::int64_t input_elements) {
  const std::int64_t units = node.Int("units");
  const bool bias = node.Bool("bias");
  const auto& parameters = node.parameters;
  const bool fits = parameters.size() == (bias ? 2U : 1U) &&
                    parameters[0].shape == network::Shape{units, input_elements} &&
                    (!bias || parameters[1].shape == network::Shape{units}) &&
                    network::ElementCount(node.output_shape) == units;
  if (fits) return {};
  return Error(ErrorCode::kInput,
               "node '" + node.name + "': a dense layer of " + std::to_string(units) +
                   " units on " + std::to_string(input_elements) + " inputs needs a weight " +
                   network::ToString({units, input_elements}) + (bias ? " and a bias" : ""));
}

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakeDense(const network::Node& node, std::int64_t input_elements,
                                   Sums<Scalar>& sums) {
  DLBENCH_RETURN_IF_ERROR(CheckShapes(node, input_elements));
  return LayerPtr<Scalar>(std::make_unique<Dense<Scalar>>(node, sums));
}

template Result<LayerPtr<float>> MakeDense(const network::Node&, std::int64_t, Sums<float>&);
template Result<LayerPtr<double>> MakeDense(const network::Node&, std::int64_t, Sums<double>&);

}  // namespace dlbench::reference
