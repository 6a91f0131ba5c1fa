#include "lrn.h"

namespace dlbench::onednn {

void LrnLayer::PlanForward(Planner& plan) {
  const adapter::Node& node = plan.node();
  const Context& context = plan.context();
  lrn_ = {node.Integer("size"), static_cast<float>(node.Real("alpha")),
          static_cast<float>(node.Real("beta")), static_cast<float>(node.Real("k"))};
  const Tensor x = plan.Input();
  forward_ = compat::LrnForward(context.engine, x.desc(), lrn_, context.Attributes());
  const dnnl::memory::desc workspace = forward_.workspace_desc();
  if (workspace.get_size() > 0) workspace_ = plan.NewTensor(workspace);
  plan.Call(dnnl::lrn_forward(forward_), forward_,
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_DST, plan.NewOutput(x.desc())},
             {DNNL_ARG_WORKSPACE, workspace_}});
  plan.Note("forward", forward_.impl_info_str());
}

void LrnLayer::PlanBackward(Planner& plan) {
  if (!plan.Wants()) return;
  const Context& context = plan.context();
  const Tensor x = plan.Input();
  const auto backward =
      compat::LrnBackward(context.engine, x.desc(), lrn_, context.Attributes(), forward_);
  const Tensor target = plan.NewGradient(x.desc(), false);
  plan.Call(dnnl::lrn_backward(backward), backward,
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_DIFF_DST, plan.OutputGradient()},
             {DNNL_ARG_DIFF_SRC, target},
             {DNNL_ARG_WORKSPACE, workspace_}});
  plan.Deliver(target);
  plan.Note("backward", backward.impl_info_str());
}

}  // namespace dlbench::onednn
