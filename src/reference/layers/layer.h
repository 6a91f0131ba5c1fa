#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "network/network.h"
#include "reference/matrix.h"
#include "reference/sums.h"

namespace dlbench::reference {

/// One trainable tensor with its gradient and its optimiser state.
template <class Scalar>
struct ParameterTensor {
  std::string name;      ///< Canonical.
  bool decays = true;    ///< Whether weight decay applies.
  Matrix<Scalar> value;  ///< A bias is one row.
  Matrix<Scalar> gradient;
  Matrix<Scalar> velocity;
};

/// One operation of the network. x and y are [batch, elements of one sample]; the engine owns both.
template <class Scalar>
class Layer {
 public:
  virtual ~Layer() = default;
  /// y = f(x); writes all of y.
  virtual void Forward(const Matrix<Scalar>& x, Matrix<Scalar>& y) = 0;
  /// From dL/dy: sets the gradients of the layer's parameters and, if `dx` is not null, all of
  /// dL/dx. x and y are those of the last Forward.
  virtual void Backward(const Matrix<Scalar>& x, const Matrix<Scalar>& y, const Matrix<Scalar>& dy,
                        Matrix<Scalar>* dx) = 0;
  /// The layer's own tensors, in canonical order.
  virtual std::vector<ParameterTensor<Scalar>*> Parameters() { return {}; }
};

template <class Scalar>
using LayerPtr = std::unique_ptr<Layer<Scalar>>;

/// The layer for `node`, whose input has `input_elements` values a sample; `sums` must outlive it.
/// kUnsupported names a node whose op the engine lacks; kInput one whose shapes do not fit.
template <class Scalar>
Result<LayerPtr<Scalar>> MakeLayer(const network::Node& node, std::int64_t input_elements,
                                   Sums<Scalar>& sums);

/// y = x W^T + b.
template <class Scalar>
Result<LayerPtr<Scalar>> MakeDense(const network::Node& node, std::int64_t input_elements,
                                   Sums<Scalar>& sums);
/// y = 1 / (1 + exp(-x)).
template <class Scalar>
LayerPtr<Scalar> MakeSigmoid();
/// y = tanh(x).
template <class Scalar>
LayerPtr<Scalar> MakeTanh();
/// y = max(x, 0).
template <class Scalar>
LayerPtr<Scalar> MakeRelu();

extern template Result<LayerPtr<float>> MakeLayer(const network::Node&, std::int64_t, Sums<float>&);
extern template Result<LayerPtr<double>> MakeLayer(const network::Node&, std::int64_t,
                                                   Sums<double>&);

}  // namespace dlbench::reference
