#include "add.h"

#include "../elementwise.h"

namespace dlbench::onednn {

void AddLayer::PlanForward(Planner& plan) {
  const Tensor a = plan.Input(0);
  const Tensor b = plan.InputAs(a.desc(), 1);
  const bool over_b = b.slot == plan.Input(1).slot && plan.MayOverwrite(1);
  const Tensor y = plan.MayOverwrite(0) ? plan.SetOutput(a, false)
                   : over_b             ? plan.SetOutput(b, false)
                                        : plan.NewOutput(a.desc());
  const auto add = plan.Fused() == Activation::kRelu ? AddRelu : AddValues;
  const std::int64_t count = StoredElements(y.desc());
  const int threads = plan.context().threads;
  plan.Run({a, b, y}, [=](const StepInput&) { add(threads, count, a.data(), b.data(), y.data()); });
}

void AddLayer::PlanBackward(Planner& plan) {
  for (const int k : {0, 1}) {
    if (plan.Wants(k)) plan.Deliver(plan.OutputGradient(), k);
  }
}

}  // namespace dlbench::onednn
