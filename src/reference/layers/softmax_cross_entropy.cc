#include "reference/layers/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dlbench::reference {

template <class Scalar>
Scalar SoftmaxCrossEntropy<Scalar>::Loss(const Matrix<Scalar>& logits,
                                         std::span<const std::int32_t> labels,
                                         Matrix<Scalar>* gradient) {
  const auto classes = static_cast<std::size_t>(logits.columns);
  const Scalar divisor =
      reduction_ == Reduction::kMean ? static_cast<Scalar>(logits.rows) : Scalar{1};
  std::vector<Scalar> losses(static_cast<std::size_t>(logits.rows));
  std::vector<Scalar> powers(classes);
  for (std::int64_t s = 0; s < logits.rows; ++s) {
    const std::span<const Scalar> z(logits.row(s), classes);
    const auto label = static_cast<std::size_t>(labels[static_cast<std::size_t>(s)]);
    const Scalar largest = *std::max_element(z.begin(), z.end());
    for (std::size_t j = 0; j < classes; ++j) powers[j] = std::exp(z[j] - largest);
    const Scalar sum = sums_.Add(powers);
    losses[static_cast<std::size_t>(s)] = std::log(sum) - (z[label] - largest);
    if (gradient == nullptr) continue;
    for (std::size_t j = 0; j < classes; ++j) {
      const Scalar target = j == label ? Scalar{1} : Scalar{0};
      gradient->row(s)[j] = (powers[j] / sum - target) / divisor;
    }
  }
  return sums_.Add(losses) / divisor;
}

template class SoftmaxCrossEntropy<float>;
template class SoftmaxCrossEntropy<double>;

}  // namespace dlbench::reference
