#include "convolution.h"

namespace dlbench::onednn {

using Tag = dnnl::memory::format_tag;

namespace {

dnnl::memory::desc Any(const dnnl::memory::dims& dims) { return Context::Desc(dims, Tag::any); }

}  // namespace

void ConvolutionLayer::ReadAttributes(const Planner& plan) {
  const adapter::Node& node = plan.node();
  const adapter::Shape& from = plan.SourceShape();
  const adapter::Shape& to = node.output_shape;
  if (from.size() != 3 || to.size() != 3) Refuse(node, "its input or output is no image");
  const std::int64_t batch = plan.context().batch;
  const std::int64_t groups = node.Integer("groups");
  const std::vector<std::int64_t> padding = node.List("padding");
  window_ = {
      node.List("kernel"), node.List("stride"), {padding[0], padding[1]}, {padding[2], padding[3]}};
  source_ = {batch, from[0], from[1], from[2]};
  destination_ = {batch, to[0], to[1], to[2]};
  weight_shape_ = {to[0], from[0] / groups, window_.kernel[0], window_.kernel[1]};
  weights_ = weight_shape_;
  if (groups > 1) {
    weights_[0] /= groups;
    weights_.insert(weights_.begin(), groups);
  }
  has_bias_ = node.Bool("bias");
  bias_desc_ = Context::Desc({to[0]}, Tag::a);
}

void ConvolutionLayer::MakeParameters(Planner& plan, const dnnl::memory::desc& preferred) {
  const dnnl::memory::desc plain =
      Context::Desc(weights_, weights_.size() == 5 ? Tag::abcde : Tag::abcd);
  const bool keeps_plain = plan.context().preset == Preset::kDefault;
  weight_ = &plan.NewParameter("weight", weight_shape_, {plain, keeps_plain ? plain : preferred});
  if (has_bias_) {
    bias_ = &plan.NewParameter("bias", {weight_shape_[0]}, {bias_desc_, bias_desc_});
  }
  plan.Note("weights",
            compat::LayoutName(weight_->storage.stored, weights_.size() == 5 ? "goihw" : "oihw"));
}

void ConvolutionLayer::PlanForward(Planner& plan) {
  ReadAttributes(plan);
  const Context& context = plan.context();
  forward_ = compat::ConvolutionForward(context.engine, Any(source_), Any(weights_), bias_desc(),
                                        Any(destination_), window_,
                                        FusedAttributes(context, plan.Fused()));
  MakeParameters(plan, forward_.weights_desc());
  x_ = plan.InputAs(forward_.src_desc());
  const Tensor weights = plan.As(weight_->values, forward_.weights_desc());
  plan.Call(dnnl::convolution_forward(forward_), forward_,
            {{DNNL_ARG_SRC, x_},
             {DNNL_ARG_WEIGHTS, weights},
             {DNNL_ARG_BIAS, has_bias_ ? bias_->values : dnnl::memory()},
             {DNNL_ARG_DST, plan.NewOutput(forward_.dst_desc())}});
  plan.Note("forward", forward_.impl_info_str());
  plan.Note("data", compat::LayoutName(forward_.dst_desc(), "nchw"));
}

void ConvolutionLayer::PlanBackward(Planner& plan) {
  const Tensor gradient = plan.OutputGradient();
  if (plan.Wants()) PlanBackwardData(plan, gradient);
  PlanBackwardWeights(plan, gradient);
}

void ConvolutionLayer::PlanBackwardData(Planner& plan, const Tensor& gradient) const {
  const Context& context = plan.context();
  const auto data =
      compat::ConvolutionBackwardData(context.engine, Any(source_), Any(weights_),
                                      Any(destination_), window_, context.Attributes(), forward_);
  const Tensor weights = plan.As(weight_->values, data.weights_desc());
  const Tensor target = plan.NewGradient(data.diff_src_desc(), false);
  plan.Call(dnnl::convolution_backward_data(data), data,
            {{DNNL_ARG_DIFF_DST, plan.As(gradient, data.diff_dst_desc())},
             {DNNL_ARG_WEIGHTS, weights},
             {DNNL_ARG_DIFF_SRC, target}});
  plan.Deliver(target);
  plan.Note("backward_data", data.impl_info_str());
}

void ConvolutionLayer::PlanBackwardWeights(Planner& plan, const Tensor& gradient) const {
  const Context& context = plan.context();
  const auto weights = compat::ConvolutionBackwardWeights(
      context.engine, Any(source_), Any(weights_), bias_desc(), Any(destination_), window_,
      context.Attributes(), forward_);
  const bool direct = weights.diff_weights_desc() == weight_->storage.stored;
  const Tensor target =
      direct ? Tensor(weight_->gradient) : plan.NewTensor(weights.diff_weights_desc());
  plan.Call(dnnl::convolution_backward_weights(weights), weights,
            {{DNNL_ARG_SRC, plan.As(x_, weights.src_desc())},
             {DNNL_ARG_DIFF_DST, plan.As(gradient, weights.diff_dst_desc())},
             {DNNL_ARG_DIFF_WEIGHTS, target},
             {DNNL_ARG_DIFF_BIAS, has_bias_ ? bias_->gradient : dnnl::memory()}});
  if (!direct) plan.CopyTo(target, weight_->gradient);
  plan.Note("backward_weights", weights.impl_info_str());
}

}  // namespace dlbench::onednn
