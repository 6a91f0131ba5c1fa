#include <cmath>

#include "reference/layers/elementwise.h"
#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

// Hyperbolic tangent, and dy/dx = 1 - y^2.
template <class Scalar>
class Tanh final : public UnaryLayer<Scalar> {
 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    Map(x, y, [](Scalar value) { return std::tanh(value); });
  }

  void Differentiate(const Matrix<Scalar>&, const Matrix<Scalar>& y, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx == nullptr) return;
    Map(y, dy, *dx,
        [](Scalar output, Scalar gradient) { return gradient * (1 - output * output); });
  }
};

}  // namespace

template <class Scalar>
LayerPtr<Scalar> MakeTanh() {
  return std::make_unique<Tanh<Scalar>>();
}

template LayerPtr<float> MakeTanh();
template LayerPtr<double> MakeTanh();

}  // namespace dlbench::reference
