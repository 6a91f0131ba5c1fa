#pragma once

#include <cstdint>
#include <vector>

namespace dlbench::onednn {

/// Softmax cross-entropy of logits [batch, classes] and its gradient, in one pass over the rows.
class SoftmaxLoss {
 public:
  SoftmaxLoss(std::int64_t batch, std::int64_t classes, bool mean, int threads);

  /// The loss of the batch (mean or sum); writes d loss / d logits, which may not be `logits`.
  /// Every label lies in [0, classes). Sums rows in order, so that the result does not depend on
  /// the number of threads.
  double Evaluate(const float* logits, const std::int32_t* labels, float* gradient);

 private:
  std::int64_t batch_, classes_;
  bool mean_;
  int threads_;
  std::vector<double> row_losses_;
};

}  // namespace dlbench::onednn
