#include <algorithm>
#include <stdexcept>

#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

// Rows of the weight by token id (PyTorch: torch.nn.Embedding): y[t] = W[x[t]]; row w of dW is the
// sum of dy[t] over all tokens t with x[t] = w, in the order of the batch, or against it for odd
// summation orders.
template <class Scalar>
class Embedding final : public UnaryLayer<Scalar> {
 public:
  Embedding(const network::Node& node, Sums<Scalar>& sums)
      : sums_(sums), weight_(TensorFor<Scalar>(node.parameters[0])) {}

  std::vector<ParameterTensor<Scalar>*> Parameters() override { return {&weight_}; }

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    for (std::size_t t = 0; t < x.values.size(); ++t) {
      std::copy_n(weight_.value.row(TokenOf(x, t)), y.columns, y.row(static_cast<std::int64_t>(t)));
    }
  }

  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>&, const Matrix<Scalar>& dy,
                     Matrix<Scalar>*) override {
    auto& gradient = weight_.gradient;
    std::fill(gradient.values.begin(), gradient.values.end(), Scalar{0});
    const std::size_t count = x.values.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t t = sums_.BiasFirst() ? count - 1 - i : i;
      const Scalar* from = dy.row(static_cast<std::int64_t>(t));
      Scalar* to = gradient.row(TokenOf(x, t));
      for (std::int64_t j = 0; j < dy.columns; ++j) to[j] += from[j];
    }
  }

 private:
  std::int64_t TokenOf(const Matrix<Scalar>& x, std::size_t t) const {
    const auto token = static_cast<std::int64_t>(x.values[t]);
    if (token < 0 || token >= weight_.value.rows) {
      throw std::invalid_argument("reference token " + std::to_string(token) + " is no word");
    }
    return token;
  }

  Sums<Scalar>& sums_;
  ParameterTensor<Scalar> weight_;
};

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakeEmbedding(const LayerSource& source, Sums<Scalar>& sums) {
  const network::Node& node = *source.node;
  const network::Shape& tokens = source.input_shapes[0];
  const std::int64_t units = node.Int("units");
  if (node.inputs[0] != "input" || tokens.size() != 1) {
    return Error(ErrorCode::kInput, "node '" + node.name + "': embedding takes the input's tokens");
  }
  DLBENCH_RETURN_IF_ERROR(CheckOutput(source, {tokens[0], units}));
  if (node.parameters.size() != 1 || node.parameters[0].shape.size() != 2 ||
      node.parameters[0].shape[1] != units) {
    return Error(ErrorCode::kInput, "node '" + node.name + "': embedding of " +
                                        std::to_string(units) +
                                        " units needs one weight [vocabulary, units]");
  }
  return LayerPtr<Scalar>(std::make_unique<Embedding<Scalar>>(node, sums));
}

template Result<LayerPtr<float>> MakeEmbedding(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakeEmbedding(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
