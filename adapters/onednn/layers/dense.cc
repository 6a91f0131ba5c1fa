#include "dense.h"

#include "../dnnl_compat.h"

namespace dlbench::onednn {

void DenseLayer::PlanForward(Planner& plan) {
  const adapter::Node& node = plan.node();
  if (plan.SourceShape().size() > 2) Refuse(node, "its input is an image; flatten it first");
  x_ = plan.InputMatrix();
  const dnnl::memory::dims dims = compat::Dims(x_.desc());
  ProductSpec spec{"weight",
                   node.Bool("bias") ? "bias" : "",
                   dims[0],
                   dims[1],
                   node.Integer("units"),
                   FusedAttributes(plan.context(), plan.Fused()),
                   plan.InputOrder()};
  const std::int64_t units = spec.units;
  product_ = Product(plan, std::move(spec));
  const Tensor y = plan.NewOutput(plan.context().Plain(node.output_shape));
  product_.Forward(plan, x_, plan.View(y, Context::Matrix(dims[0], units)));
}

void DenseLayer::PlanBackward(Planner& plan) {
  const std::int64_t rows = compat::Dims(x_.desc())[0];
  const Tensor gradient =
      plan.View(plan.OutputGradient(), Context::Matrix(rows, plan.node().output_shape.back()));
  if (plan.Wants()) {
    const Tensor target = plan.NewGradient(plan.Input().desc(), false);
    product_.BackwardData(plan, gradient, plan.View(target, x_.desc()));
    plan.Deliver(target);
  }
  product_.BackwardWeights(plan, x_, gradient);
}

}  // namespace dlbench::onednn
