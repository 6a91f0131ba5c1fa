#pragma once

#include <cstdint>
#include <memory>
#include <span>
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

/// One tensor that a layer keeps from step to step and that no gradient changes.
template <class Scalar>
struct BufferTensor {
  std::string name;  ///< Canonical.
  double initial = 0.0;
  Matrix<Scalar> value;
  Matrix<Scalar>
      next;  ///< What the last Forward would make of it; the engine keeps it after a step.
};

/// The inputs of a layer, as many as its node has.
template <class Scalar>
using Inputs = std::span<const Matrix<Scalar>* const>;
/// Where the gradients of the inputs go; null where nobody needs one.
template <class Scalar>
using InputGradients = std::span<Matrix<Scalar>* const>;

/// One operation of the network. The engine owns inputs and outputs: of an image or a vector a row
/// is one sample, of a sequence [T, D] one of a sample's T rows, sample after sample.
template <class Scalar>
class Layer {
 public:
  virtual ~Layer() = default;
  /// y = f(x); writes all of y.
  virtual void Forward(Inputs<Scalar> x, Matrix<Scalar>& y) = 0;
  /// From dL/dy: sets the gradients of the layer's parameters and all of each dL/dx that is not
  /// null. x and y are those of the last Forward.
  virtual void Backward(Inputs<Scalar> x, const Matrix<Scalar>& y, const Matrix<Scalar>& dy,
                        InputGradients<Scalar> dx) = 0;
  /// The layer's own tensors, in canonical order.
  virtual std::vector<ParameterTensor<Scalar>*> Parameters() { return {}; }
  virtual std::vector<BufferTensor<Scalar>*> Buffers() { return {}; }
  /// The mask of the passes that follow, one byte for each element of y; only dropout has one.
  virtual void SetMask(std::span<const std::uint8_t> /*mask*/) {}
};

/// A layer with one input.
template <class Scalar>
class UnaryLayer : public Layer<Scalar> {
 public:
  void Forward(Inputs<Scalar> x, Matrix<Scalar>& y) final { Apply(*x[0], y); }
  void Backward(Inputs<Scalar> x, const Matrix<Scalar>& y, const Matrix<Scalar>& dy,
                InputGradients<Scalar> dx) final {
    Differentiate(*x[0], y, dy, dx[0]);
  }

 protected:
  virtual void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) = 0;
  /// `dx` may be null.
  virtual void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>& y,
                             const Matrix<Scalar>& dy, Matrix<Scalar>* dx) = 0;
};

template <class Scalar>
using LayerPtr = std::unique_ptr<Layer<Scalar>>;

/// What a layer is made from.
struct LayerSource {
  const network::Node* node = nullptr;
  std::vector<network::Shape> input_shapes;  ///< Of one sample.
  std::int64_t batch = 0;
};

/// The layer for `source`; `sums` must outlive it. kUnsupported names a node whose op the engine
/// lacks; kInput one whose shapes do not fit.
template <class Scalar>
Result<LayerPtr<Scalar>> MakeLayer(const LayerSource& source, Sums<Scalar>& sums);

// One function per op; formulas and sources stand at the layers.
template <class Scalar>
Result<LayerPtr<Scalar>> MakeDense(const LayerSource& source, Sums<Scalar>& sums);
template <class Scalar>
Result<LayerPtr<Scalar>> MakeConv2d(const LayerSource& source, Sums<Scalar>& sums);
template <class Scalar>
Result<LayerPtr<Scalar>> MakePool2d(const LayerSource& source, Sums<Scalar>& sums);
template <class Scalar>
Result<LayerPtr<Scalar>> MakeGlobalAvgPool(const LayerSource& source, Sums<Scalar>& sums);
template <class Scalar>
Result<LayerPtr<Scalar>> MakeLrn(const LayerSource& source, Sums<Scalar>& sums);
template <class Scalar>
Result<LayerPtr<Scalar>> MakeBatchNorm(const LayerSource& source, Sums<Scalar>& sums);
template <class Scalar>
Result<LayerPtr<Scalar>> MakeEmbedding(const LayerSource& source, Sums<Scalar>& sums);
template <class Scalar>
Result<LayerPtr<Scalar>> MakeLstm(const LayerSource& source, Sums<Scalar>& sums);
template <class Scalar>
LayerPtr<Scalar> MakeAdd();
template <class Scalar>
LayerPtr<Scalar> MakeFlatten();
template <class Scalar>
Result<LayerPtr<Scalar>> MakeSubsamplePad(const LayerSource& source);
template <class Scalar>
LayerPtr<Scalar> MakeDropout(const LayerSource& source);
template <class Scalar>
LayerPtr<Scalar> MakeSigmoid();
template <class Scalar>
LayerPtr<Scalar> MakeTanh();
template <class Scalar>
LayerPtr<Scalar> MakeRelu();

/// Zeros for a parameter of the network; a vector is one row, all dimensions but the first are
/// columns.
template <class Scalar>
ParameterTensor<Scalar> TensorFor(const network::Parameter& parameter);
/// A buffer at its initial value; one of each sample has `batch` rows.
template <class Scalar>
BufferTensor<Scalar> TensorFor(const network::Buffer& buffer, std::int64_t batch);
/// kInput where `source`'s parameters have other shapes than `expected`; `what` tells the layer.
Status CheckParameters(const LayerSource& source, const std::vector<network::Shape>& expected,
                       const std::string& what);
/// kInput where the node's output has another shape than `expected`.
Status CheckOutput(const LayerSource& source, const network::Shape& expected);

extern template Result<LayerPtr<float>> MakeLayer(const LayerSource&, Sums<float>&);
extern template Result<LayerPtr<double>> MakeLayer(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
