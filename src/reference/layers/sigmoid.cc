#include <cmath>

#include "reference/layers/elementwise.h"
#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

// Logistic function, y = 1 / (1 + exp(-x)), and dy/dx = y (1 - y). For negative x it is written as
// exp(x) / (1 + exp(x)), so that exp never overflows.
template <class Scalar>
class Sigmoid final : public UnaryLayer<Scalar> {
 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    Map(x, y, [](Scalar value) {
      if (value >= 0) return 1 / (1 + std::exp(-value));
      const Scalar power = std::exp(value);
      return power / (1 + power);
    });
  }

  void Differentiate(const Matrix<Scalar>&, const Matrix<Scalar>& y, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    if (dx == nullptr) return;
    Map(y, dy, *dx,
        [](Scalar output, Scalar gradient) { return gradient * output * (1 - output); });
  }
};

}  // namespace

template <class Scalar>
LayerPtr<Scalar> MakeSigmoid() {
  return std::make_unique<Sigmoid<Scalar>>();
}

template LayerPtr<float> MakeSigmoid();
template LayerPtr<double> MakeSigmoid();

}  // namespace dlbench::reference
