#include "reference/layers/elementwise.h"
#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

// Rectifier, y = max(x, 0). The derivative at x = 0 is taken as 0, as PyTorch, TensorFlow and
// oneDNN do. A NaN stays one: max() would hide it.
template <class Scalar>
class Relu final : public UnaryLayer<Scalar> {
 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    Map(x, y, [](Scalar value) { return value <= 0 ? Scalar{0} : value; });
  }

  void Differentiate(const Matrix<Scalar>&, const Matrix<Scalar>& y, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx == nullptr) return;
    Map(y, dy, *dx,
        [](Scalar output, Scalar gradient) { return output > 0 ? gradient : Scalar{0}; });
  }
};

}  // namespace

template <class Scalar>
LayerPtr<Scalar> MakeRelu() {
  return std::make_unique<Relu<Scalar>>();
}

template LayerPtr<float> MakeRelu();
template LayerPtr<double> MakeRelu();

}  // namespace dlbench::reference
