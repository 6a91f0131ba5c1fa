#include "dropout.h"

#include "../elementwise.h"

namespace dlbench::onednn {

void DropoutLayer::PlanMask(Planner& plan, const Tensor& from, const Tensor& to) const {
  const adapter::Shape& shape = plan.node().output_shape;
  const bool sequence = shape.size() == 2;
  const std::int64_t outer = sequence ? shape[0] : 1;
  const std::int64_t inner = plan.context().batch;
  const std::int64_t width = adapter::ElementCount(shape) / outer;
  const auto scale = static_cast<float>(1.0 / (1.0 - plan.node().Real("probability")));
  const auto which = static_cast<std::size_t>(plan.graph().dropout_index(plan.index()));
  const int threads = plan.context().threads;
  plan.Run({from, to}, [=](const StepInput& input) {
    ApplyMask(threads, outer, inner, width, scale, input.masks[which], from.data(), to.data());
  });
}

void DropoutLayer::PlanForward(Planner& plan) {
  const double probability = plan.node().Real("probability");
  if (!(probability >= 0.0 && probability < 1.0)) Refuse(plan.node(), "its probability");
  const Tensor x = plan.InputAs(plan.context().Plain(plan.SourceShape()));
  const bool own = x.slot != plan.Input().slot || plan.MayOverwrite();
  PlanMask(plan, x, own ? plan.SetOutput(x, false) : plan.NewOutput(x.desc()));
}

void DropoutLayer::PlanBackward(Planner& plan) {
  if (!plan.Wants()) return;
  const Tensor target = plan.NewGradient(plan.OutputGradient().desc(), true);
  PlanMask(plan, plan.OutputGradient(), target);
  plan.Deliver(target);
}

}  // namespace dlbench::onednn
