#include "batch_norm.h"

#include "../dnnl_compat.h"

namespace dlbench::onednn {

using Tag = dnnl::memory::format_tag;

/// Values [N, C] are images of one pixel.
Tensor BatchNormLayer::AsImage(Planner& plan, const Tensor& tensor) const {
  return tensor.desc() == data_ ? tensor : plan.View(tensor, data_);
}

void BatchNormLayer::PlanForward(Planner& plan) {
  const adapter::Node& node = plan.node();
  const Context& context = plan.context();
  const adapter::Shape& shape = plan.SourceShape();
  if (shape.size() != 1 && shape.size() != 3) Refuse(node, "its input is neither image nor values");
  channels_ = shape[0];
  samples_ = context.batch * adapter::ElementCount(shape) / channels_;
  epsilon_ = static_cast<float>(node.Real("epsilon"));
  const Tensor input = shape.size() == 3 ? plan.Input() : plan.InputAs(context.Plain(shape));
  data_ =
      shape.size() == 3 ? input.desc() : Context::Desc({context.batch, channels_, 1, 1}, Tag::acdb);
  x_ = AsImage(plan, input);
  flags_ = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  if (plan.Fused() == Activation::kRelu) flags_ |= dnnl::normalization_flags::fuse_norm_relu;
  forward_ =
      compat::BatchNormForward(context.engine, data_, epsilon_, flags_, context.Attributes());
  const dnnl::memory::desc channel = Context::Desc({channels_}, Tag::a);
  scale_ = &plan.NewParameter("weight", {channels_}, {channel, channel});
  shift_ = &plan.NewParameter("bias", {channels_}, {channel, channel});
  statistics_ = Buffer(2 * channel.get_size());
  mean_ = dnnl::memory(channel, context.engine, statistics_.data());
  variance_ = dnnl::memory(channel, context.engine, statistics_.data() + channels_);
  const dnnl::memory::desc workspace = forward_.workspace_desc();
  if (workspace.get_size() > 0) workspace_ = plan.NewTensor(workspace);
  const Tensor y = plan.NewOutput(input.desc());
  plan.Call(dnnl::batch_normalization_forward(forward_), forward_,
            {{DNNL_ARG_SRC, x_},
             {DNNL_ARG_DST, AsImage(plan, y)},
             {DNNL_ARG_SCALE, scale_->values},
             {DNNL_ARG_SHIFT, shift_->values},
             {DNNL_ARG_MEAN, mean_},
             {DNNL_ARG_VARIANCE, variance_},
             {DNNL_ARG_WORKSPACE, workspace_}});
  plan.Note("forward", forward_.impl_info_str());
  PlanRunning(plan);
}

/// oneDNN's variance divides by n; the running one may divide by n - 1.
void BatchNormLayer::PlanRunning(Planner& plan) {
  const adapter::Node& node = plan.node();
  const StateBuffer* mean = plan.NewBuffer("running_mean");
  const StateBuffer* variance = plan.NewBuffer("running_variance");
  if (mean == nullptr || variance == nullptr) Refuse(node, "it has no running statistics");
  const bool unbiased = node.Text("running_variance") == "unbiased";
  if (!unbiased && node.Text("running_variance") != "biased") {
    Refuse(node, "its running_variance is neither unbiased nor biased");
  }
  if (unbiased && samples_ < 2) Refuse(node, "one number has no unbiased variance");
  const auto keep = static_cast<float>(1.0 - node.Real("momentum"));
  const auto take = static_cast<float>(node.Real("momentum"));
  const double n = static_cast<double>(samples_);
  const float factor = unbiased ? static_cast<float>(n / (n - 1.0)) : 1.0F;
  const std::int64_t channels = channels_;
  plan.Run({}, [=, from_mean = mean_.data(), from_variance = variance_.data()](const StepInput&) {
    float* const to_mean = mean->data();
    float* const to_variance = variance->data();
    for (std::int64_t c = 0; c < channels; ++c) {
      to_mean[c] = keep * to_mean[c] + take * from_mean[c];
      to_variance[c] = keep * to_variance[c] + take * factor * from_variance[c];
    }
  });
}

void BatchNormLayer::PlanBackward(Planner& plan) {
  const Context& context = plan.context();
  const auto backward = compat::BatchNormBackward(context.engine, data_, epsilon_, flags_,
                                                  context.Attributes(), forward_);
  const Tensor gradient = plan.OutputGradient();
  const Tensor target = plan.NewGradient(gradient.desc(), true);
  plan.Call(dnnl::batch_normalization_backward(backward), backward,
            {{DNNL_ARG_SRC, x_},
             {DNNL_ARG_DIFF_DST, AsImage(plan, gradient)},
             {DNNL_ARG_SCALE, scale_->values},
             {DNNL_ARG_SHIFT, shift_->values},  // 2.6 counts it, 3.x ignores it
             {DNNL_ARG_MEAN, mean_},
             {DNNL_ARG_VARIANCE, variance_},
             {DNNL_ARG_WORKSPACE, workspace_},
             {DNNL_ARG_DIFF_SRC, AsImage(plan, target)},
             {DNNL_ARG_DIFF_SCALE, scale_->gradient},
             {DNNL_ARG_DIFF_SHIFT, shift_->gradient}});
  if (plan.Wants()) plan.Deliver(target);
  plan.Note("backward", backward.impl_info_str());
}

}  // namespace dlbench::onednn
