#pragma once

#include <cstdint>
#include <span>

#include "reference/matrix.h"
#include "reference/sums.h"

namespace dlbench::reference {

/// Loss of a batch of logits z [batch, classes] with one right class y_s a sample:
///   L_s = log(sum_j exp(z_sj)) - z_sy,  L = sum_s L_s or its mean over the batch
///   dL/dz_sj = (exp(z_sj) / sum_i exp(z_si) - [j = y_s]), divided by the batch for the mean.
/// Source: Goodfellow, Bengio, Courville, "Deep Learning", 6.2.2.3; PyTorch, CrossEntropyLoss. The
/// largest logit is taken off first, so that exp never overflows.
template <class Scalar>
class SoftmaxCrossEntropy {
 public:
  enum class Reduction { kSum, kMean };

  /// `sums` must outlive this object.
  SoftmaxCrossEntropy(Reduction reduction, Sums<Scalar>& sums)
      : reduction_(reduction), sums_(sums) {}

  /// The loss; labels lie in [0, classes). Sets all of `gradient` (dL/dz) if it is not null.
  Scalar Loss(const Matrix<Scalar>& logits, std::span<const std::int32_t> labels,
              Matrix<Scalar>* gradient);

 private:
  Reduction reduction_;
  Sums<Scalar>& sums_;
};

extern template class SoftmaxCrossEntropy<float>;
extern template class SoftmaxCrossEntropy<double>;

}  // namespace dlbench::reference
