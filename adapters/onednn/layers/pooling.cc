#include "pooling.h"

#include <algorithm>

namespace dlbench::onednn {

/// oneDNN divides by the whole kernel or by the elements inside. The rule of count_padding = true
/// divides by the window clipped to the padded input: the whole kernel while no window overhangs,
/// and the elements inside where there is no padding.
dnnl::algorithm PoolingLayer::AverageAlgorithm(const adapter::Node& node, bool overhangs) const {
  if (!node.Bool("count_padding")) return dnnl::algorithm::pooling_avg_exclude_padding;
  if (!overhangs) return dnnl::algorithm::pooling_avg_include_padding;
  const std::vector<std::int64_t> padding = node.List("padding");
  if (std::all_of(padding.begin(), padding.end(), [](std::int64_t p) { return p == 0; })) {
    return dnnl::algorithm::pooling_avg_exclude_padding;
  }
  Refuse(node, "oneDNN has no divisor for padding that counts and windows that overhang it");
}

void PoolingLayer::ReadAttributes(const Planner& plan) {
  const adapter::Node& node = plan.node();
  const adapter::Shape& from = plan.SourceShape();
  const adapter::Shape& to = node.output_shape;
  if (from.size() != 3 || to.size() != 3) Refuse(node, "its input or output is no image");
  destination_ = {plan.context().batch, to[0], to[1], to[2]};
  if (node.op == "global_avg_pool") {
    window_ = {{from[1], from[2]}, {1, 1}, {0, 0}, {0, 0}};
    algorithm_ = dnnl::algorithm::pooling_avg_exclude_padding;
    return;
  }
  const std::vector<std::int64_t> padding = node.List("padding");
  window_ = {node.List("kernel"), node.List("stride"), {padding[0], padding[1]}, {0, 0}};
  bool overhangs = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reached = (to[i + 1] - 1) * window_.strides[i] + window_.kernel[i];
    const std::int64_t behind = reached - from[i + 1] - padding[i];
    overhangs = overhangs || behind > padding[i + 2];
    window_.padding_end[i] = std::max<std::int64_t>(behind, 0);
  }
  if (node.op == "avg_pool2d") algorithm_ = AverageAlgorithm(node, overhangs);
}

void PoolingLayer::PlanForward(Planner& plan) {
  ReadAttributes(plan);
  const Context& context = plan.context();
  x_ = plan.Input();
  forward_ = compat::PoolingForward(context.engine, algorithm_, x_.desc(),
                                    Context::Desc(destination_, dnnl::memory::format_tag::any),
                                    window_, context.Attributes());
  const dnnl::memory::desc workspace = forward_.workspace_desc();
  if (workspace.get_size() > 0) workspace_ = plan.NewTensor(workspace);
  plan.Call(dnnl::pooling_forward(forward_), forward_,
            {{DNNL_ARG_SRC, x_},
             {DNNL_ARG_DST, plan.NewOutput(forward_.dst_desc())},
             {DNNL_ARG_WORKSPACE, workspace_}});
  plan.Note("forward", forward_.impl_info_str());
}

void PoolingLayer::PlanBackward(Planner& plan) {
  if (!plan.Wants()) return;
  const Context& context = plan.context();
  const auto backward =
      compat::PoolingBackward(context.engine, algorithm_, x_.desc(), forward_.dst_desc(), window_,
                              context.Attributes(), forward_);
  const Tensor target = plan.NewGradient(x_.desc(), false);
  plan.Call(dnnl::pooling_backward(backward), backward,
            {{DNNL_ARG_DIFF_DST, plan.OutputGradient()},
             {DNNL_ARG_DIFF_SRC, target},
             {DNNL_ARG_WORKSPACE, workspace_}});
  plan.Deliver(target);
  plan.Note("backward", backward.impl_info_str());
}

}  // namespace dlbench::onednn
