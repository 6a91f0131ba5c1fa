#include "activation.h"

#include "../dnnl_compat.h"

namespace dlbench::onednn {
namespace {

/// Whether the batch norm before it computes the gradient too.
bool IsInBatchNorm(const Planner& plan) {
  return plan.IsFused() &&
         plan.graph().node(plan.graph().inputs(plan.index())[0]).op == "batch_norm";
}

}  // namespace

dnnl::algorithm EltwiseAlgorithm(Activation activation) {
  switch (activation) {
    case Activation::kSigmoid:
      return dnnl::algorithm::eltwise_logistic_use_dst_for_bwd;
    case Activation::kTanh:
      return dnnl::algorithm::eltwise_tanh_use_dst_for_bwd;
    case Activation::kRelu:
      return dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    case Activation::kNone:
      break;
  }
  return dnnl::algorithm::undef;
}

dnnl::primitive_attr FusedAttributes(const Context& context, Activation fused) {
  dnnl::primitive_attr attributes = context.Attributes();
  if (fused == Activation::kNone) return attributes;
  dnnl::post_ops operations;
  compat::AppendEltwise(operations, EltwiseAlgorithm(fused));
  attributes.set_post_ops(operations);
  return attributes;
}

void ActivationLayer::PlanForward(Planner& plan) {
  const Context& context = plan.context();
  const Tensor input = plan.Input();
  const dnnl::algorithm algorithm = EltwiseAlgorithm(ActivationOf(plan.node().op));
  forward_ = compat::EltwiseForward(context.engine, algorithm, input.desc(), context.Attributes());
  if (plan.IsFused()) {
    plan.SetOutput(input, !IsInBatchNorm(plan));
    plan.Note("forward", "in the layer before it");
    return;
  }
  const Tensor output =
      plan.MayOverwrite() ? plan.SetOutput(input, true) : plan.NewOutput(input.desc(), true);
  plan.Call(dnnl::eltwise_forward(forward_), forward_,
            {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
  plan.Note("forward", forward_.impl_info_str());
}

void ActivationLayer::PlanBackward(Planner& plan) {
  if (!plan.Wants()) return;
  const Context& context = plan.context();
  const Tensor gradient = plan.OutputGradient();
  if (IsInBatchNorm(plan)) {
    plan.Deliver(gradient);
    return;
  }
  const dnnl::algorithm algorithm = EltwiseAlgorithm(ActivationOf(plan.node().op));
  const auto backward = compat::EltwiseBackward(context.engine, algorithm, gradient.desc(),
                                                context.Attributes(), forward_);
  const Tensor target = plan.NewGradient(gradient.desc(), true);
  plan.Call(
      dnnl::eltwise_backward(backward), backward,
      {{DNNL_ARG_DST, plan.Output()}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, target}});
  plan.Deliver(target);
  plan.Note("backward", backward.impl_info_str());
}

}  // namespace dlbench::onednn
