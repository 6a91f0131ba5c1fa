#include "lstm.h"

#include <algorithm>

#include "../dnnl_compat.h"

namespace dlbench::onednn {

std::size_t LstmLayer::BlockBytes() const {
  return static_cast<std::size_t>(batch_ * units_) * sizeof(float);
}

Tensor LstmLayer::StateAt(Planner& plan, const Tensor& states, std::int64_t t) const {
  return plan.View(states, Context::Matrix(batch_, units_),
                   static_cast<std::size_t>(t) * BlockBytes());
}

Tensor LstmLayer::GatesAt(Planner& plan, std::int64_t t) const {
  return plan.View(gates_, Context::Matrix(batch_, 4 * units_),
                   static_cast<std::size_t>(4 * t) * BlockBytes());
}

void LstmLayer::PlanForward(Planner& plan) {
  const adapter::Node& node = plan.node();
  const adapter::Shape& from = plan.SourceShape();
  if (from.size() != 2) Refuse(node, "its input is no sequence");
  length_ = from[0];
  inputs_ = from[1];
  units_ = node.Integer("units");
  batch_ = plan.context().batch;
  carried_ = node.Text("state") == "carried";
  if (!carried_ && node.Text("state") != "reset") Refuse(node, "its state");
  const std::int64_t rows = length_ * batch_;
  dnnl::primitive_attr adding = plan.context().Attributes();
  dnnl::post_ops sum;
  sum.append_sum(1.0F);
  adding.set_post_ops(sum);
  x_ = plan.InputMatrix();
  from_input_ = Product(plan, {"weight_ih", "bias", rows, inputs_, 4 * units_,
                               plan.context().Attributes(), plan.InputOrder()});
  from_hidden_ = Product(plan, {"weight_hh", "", batch_, units_, 4 * units_, adding});
  gates_ = plan.NewTensor(Context::Matrix(rows, 4 * units_));
  hidden_ = plan.NewTensor(Context::Matrix(rows + batch_, units_));
  cell_ = plan.NewTensor(Context::Matrix(rows + batch_, units_));
  PlanStart(plan);
  from_input_.Forward(plan, x_, gates_);
  const CellShape shape{batch_, units_};
  const int threads = plan.context().threads;
  for (std::int64_t t = 0; t < length_; ++t) {
    const Tensor gates = GatesAt(plan, t);
    // Nothing comes from a state of zeros.
    if (carried_ || t > 0) from_hidden_.Forward(plan, StateAt(plan, hidden_, t), gates);
    const Tensor before = StateAt(plan, cell_, t), cell = StateAt(plan, cell_, t + 1);
    const Tensor hidden = StateAt(plan, hidden_, t + 1);
    plan.Run({gates, before, cell, hidden}, [=](const StepInput&) {
      CellForward(threads, shape, gates.data(), before.data(), cell.data(), hidden.data());
    });
  }
  PlanEnd(plan);
  plan.SetOutput(plan.View(hidden_, plan.context().Plain(node.output_shape), BlockBytes()), true);
}

void LstmLayer::PlanStart(Planner& plan) {
  if (carried_) {
    carried_hidden_ = plan.NewBuffer("hidden");
    carried_cell_ = plan.NewBuffer("cell");
    if (carried_hidden_ == nullptr || carried_cell_ == nullptr) {
      Refuse(plan.node(), "it has no buffers for the carried state");
    }
  }
  plan.Run({hidden_, cell_}, [this, count = batch_ * units_](const StepInput&) {
    if (carried_) {
      std::copy_n(carried_hidden_->data(), count, hidden_.data());
      std::copy_n(carried_cell_->data(), count, cell_.data());
    } else {
      std::fill_n(hidden_.data(), count, 0.0F);
      std::fill_n(cell_.data(), count, 0.0F);
    }
  });
}

void LstmLayer::PlanEnd(Planner& plan) {
  if (!carried_) return;
  plan.Run({hidden_, cell_}, [this, count = batch_ * units_](const StepInput&) {
    std::copy_n(hidden_.data() + length_ * count, count, carried_hidden_->data());
    std::copy_n(cell_.data() + length_ * count, count, carried_cell_->data());
  });
}

void LstmLayer::PlanBackward(Planner& plan) {
  const Tensor from_next = plan.NewTensor(Context::Matrix(batch_, units_));
  const Tensor cell_gradient = plan.NewTensor(Context::Matrix(batch_, units_));
  plan.Run({from_next, cell_gradient}, [=, count = batch_ * units_](const StepInput&) {
    std::fill_n(from_next.data(), count, 0.0F);
    std::fill_n(cell_gradient.data(), count, 0.0F);
  });
  const CellShape shape{batch_, units_};
  const int threads = plan.context().threads;
  for (std::int64_t t = length_; t-- > 0;) {
    const Tensor gates = GatesAt(plan, t);
    const Tensor before = StateAt(plan, cell_, t), cell = StateAt(plan, cell_, t + 1);
    const Tensor from_output = StateAt(plan, plan.OutputGradient(), t);
    plan.Run({gates, before, cell, from_output, from_next, cell_gradient}, [=](const StepInput&) {
      CellBackward(threads, shape, gates.data(), before.data(), cell.data(), from_output.data(),
                   from_next.data(), cell_gradient.data());
    });
    if (t > 0) from_hidden_.BackwardData(plan, gates, from_next);
  }
  if (plan.Wants()) {
    const Tensor target = plan.NewGradient(plan.Input().desc(), false);
    from_input_.BackwardData(plan, gates_, plan.View(target, x_.desc()));
    plan.Deliver(target);
  }
  from_input_.BackwardWeights(plan, x_, gates_);
  const Tensor states = plan.View(hidden_, Context::Matrix(length_ * batch_, units_));
  from_hidden_.BackwardWeights(plan, states, gates_);
}

}  // namespace dlbench::onednn
