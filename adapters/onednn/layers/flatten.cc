#include "flatten.h"

#include <algorithm>

#include "image_layout.h"

namespace dlbench::onednn {
namespace {

bool OnlyDenseFollows(const Planner& plan) {
  const Graph& graph = plan.graph();
  const std::vector<int>& next = graph.consumers(plan.index());
  return plan.index() != graph.logits() && std::all_of(next.begin(), next.end(), [&](int index) {
           return graph.node(index).op == "dense";
         });
}

}  // namespace

void FlattenLayer::PlanForward(Planner& plan) {
  const adapter::Shape& shape = plan.SourceShape();
  const dnnl::memory::desc plain = plan.context().Plain(shape);
  const dnnl::memory::desc vector = plan.context().Plain(plan.node().output_shape);
  image_ = plan.Input().desc();
  // One pixel has its channels in order in any layout without padding.
  const bool in_order =
      image_ == plain || (shape.size() == 3 && shape[1] * shape[2] == 1 && IsDense(image_));
  const bool as_it_is = in_order || (ImageTag(image_) && OnlyDenseFollows(plan));
  if (as_it_is) {
    plan.SetOutput(plan.View(plan.Input(), vector), plan.InputIsKept(),
                   in_order ? nullptr : &image_);
    return;
  }
  image_ = plain;
  plan.SetOutput(plan.View(plan.InputAs(plain), vector), false);
}

void FlattenLayer::PlanBackward(Planner& plan) {
  if (plan.Wants()) plan.Deliver(plan.View(plan.OutputGradient(), image_));
}

}  // namespace dlbench::onednn
