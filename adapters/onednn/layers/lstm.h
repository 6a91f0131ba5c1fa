#pragma once

#include "layer.h"
#include "lstm_cell.h"
#include "product.h"

namespace dlbench::onednn {

/// [T, D] -> [T, units], gates in the order i, f, g, o. The inputs of all times are multiplied at
/// once; each time adds the product with the hidden state before it, and a vectorised pass does the
/// rest. The gradients of the weights are two products over all times.
class LstmLayer : public Layer {
 public:
  void PlanForward(Planner& plan) override;
  void PlanBackward(Planner& plan) override;

 private:
  std::size_t BlockBytes() const;
  /// The state before time `t`; `t` = T is the last one.
  Tensor StateAt(Planner& plan, const Tensor& states, std::int64_t t) const;
  Tensor GatesAt(Planner& plan, std::int64_t t) const;
  void PlanStart(Planner& plan);
  void PlanEnd(Planner& plan);

  std::int64_t length_ = 0, batch_ = 0, inputs_ = 0, units_ = 0;
  bool carried_ = false;
  Product from_input_, from_hidden_;
  Tensor x_;       ///< [T * batch, inputs].
  Tensor gates_;   ///< [T * batch, 4 units]; their gradients in the backward part.
  Tensor hidden_;  ///< [(T + 1) * batch, units]: the state before each time, and the last.
  Tensor cell_;    ///< The same for the cell.
  StateBuffer* carried_hidden_ = nullptr;
  StateBuffer* carried_cell_ = nullptr;
};

}  // namespace dlbench::onednn
