#include "dense.h"

#include "dnnl_compat.h"

namespace dlbench::onednn {
namespace {

using Tag = dnnl::memory::format_tag;
constexpr auto kFloat = dnnl::memory::data_type::f32;

/// Up to this batch brgemm on blocked weights wins over packing a whole matrix for a short product.
constexpr std::int64_t kLargestBlockedBatch = 128;

Tag TagOf(WeightLayout layout) {
  switch (layout) {
    case WeightLayout::kColumns:
      return Tag::ba;
    case WeightLayout::kBlocked:
      return Tag::any;
    case WeightLayout::kRows:
    case WeightLayout::kAuto:
      break;
  }
  return Tag::ab;
}

/// Memory for values, gradient and (with momentum) velocity in `layout`.
Parameter MakeParameter(const Context& context, std::string name, std::vector<std::int64_t> shape,
                        bool decays, bool has_velocity, const dnnl::memory::desc& layout) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.decays = decays;
  parameter.canonical = dnnl::memory::desc(shape, kFloat, shape.size() == 2 ? Tag::ab : Tag::a);
  parameter.shape = std::move(shape);
  parameter.stored_elements = static_cast<std::int64_t>(layout.get_size() / sizeof(float));
  for (dnnl::memory* memory : {&parameter.values, &parameter.gradient, &parameter.velocity}) {
    if (memory == &parameter.velocity && !has_velocity) continue;
    parameter.storage.emplace_back(layout.get_size());
    *memory = dnnl::memory(layout, context.engine, parameter.storage.back().data());
  }
  return parameter;
}

}  // namespace

WeightLayout LayoutFor(Preset preset, std::int64_t batch) {
  if (preset == Preset::kDefault) return WeightLayout::kRows;
  return batch <= kLargestBlockedBatch ? WeightLayout::kBlocked : WeightLayout::kColumns;
}

DenseLayer::DenseLayer(const Context& context, const LayerSpec& spec, const SgdRule& sgd,
                       Activation fused, const LayerMatrices& matrices)
    : name_(spec.name) {
  const std::int64_t inputs = compat::Dims(matrices.input.get_desc())[1];
  const dnnl::memory::desc x = matrices.input.get_desc();
  const dnnl::memory::desc y = matrices.output.get_desc();
  const dnnl::memory::desc bias_desc({spec.units}, kFloat, Tag::a);
  const dnnl::memory::desc* bias = spec.has_bias ? &bias_desc : nullptr;
  const WeightLayout kind = context.layout == WeightLayout::kAuto
                                ? LayoutFor(context.preset, context.batch)
                                : context.layout;
  const dnnl::memory::desc wanted({spec.units, inputs}, kFloat, TagOf(kind));

  dnnl::primitive_attr fused_attributes = context.Attributes();
  if (fused != Activation::kNone) {
    dnnl::post_ops operations;
    compat::AppendEltwise(operations, EltwiseAlgorithm(fused));
    fused_attributes.set_post_ops(operations);
  }
  const auto forward =
      compat::InnerProductForward(context.engine, x, wanted, bias, y, fused_attributes);
  const dnnl::memory::desc layout = forward.weights_desc();
  layout_ = compat::LayoutName(layout);
  const bool has_velocity = sgd.momentum != 0.0F;
  parameters_.push_back(MakeParameter(context, name_ + ".weight", {spec.units, inputs},
                                      spec.weight_decays, has_velocity, layout));
  if (spec.has_bias) {
    parameters_.push_back(MakeParameter(context, name_ + ".bias", {spec.units}, spec.bias_decays,
                                        has_velocity, bias_desc));
  }
  const dnnl::memory bias_values = spec.has_bias ? parameters_[1].values : dnnl::memory();
  const dnnl::memory bias_gradient = spec.has_bias ? parameters_[1].gradient : dnnl::memory();
  forward_ = PrimitiveCall(dnnl::inner_product_forward(forward), forward,
                           {{DNNL_ARG_SRC, matrices.input},
                            {DNNL_ARG_WEIGHTS, parameters_[0].values},
                            {DNNL_ARG_BIAS, bias_values},
                            {DNNL_ARG_DST, matrices.output}});
  const auto weights = compat::InnerProductBackwardWeights(context.engine, x, layout, bias, y,
                                                           context.Attributes(), forward);
  backward_weights_ = PrimitiveCall(dnnl::inner_product_backward_weights(weights), weights,
                                    {{DNNL_ARG_SRC, matrices.input},
                                     {DNNL_ARG_DIFF_DST, matrices.output_gradient},
                                     {DNNL_ARG_DIFF_WEIGHTS, parameters_[0].gradient},
                                     {DNNL_ARG_DIFF_BIAS, bias_gradient}});
  if (!matrices.input_gradient) return;
  const auto data =
      compat::InnerProductBackwardData(context.engine, x, layout, y, context.Attributes(), forward);
  backward_data_ = PrimitiveCall(dnnl::inner_product_backward_data(data), data,
                                 {{DNNL_ARG_DIFF_DST, matrices.output_gradient},
                                  {DNNL_ARG_WEIGHTS, parameters_[0].values},
                                  {DNNL_ARG_DIFF_SRC, matrices.input_gradient}});
}

void DenseLayer::Forward(const Context& context) { forward_.Execute(context.stream); }

void DenseLayer::Backward(const Context& context) {
  if (!backward_data_.empty()) backward_data_.Execute(context.stream);
  backward_weights_.Execute(context.stream);
}

std::vector<PrimitiveCall*> DenseLayer::calls() {
  return {&forward_, &backward_data_, &backward_weights_};
}

void DenseLayer::Describe(std::map<std::string, std::string>& settings) const {
  settings[name_ + ".weights"] = layout_;
  settings[name_ + ".forward"] = forward_.implementation();
  settings[name_ + ".backward_weights"] = backward_weights_.implementation();
  if (!backward_data_.empty()) {
    settings[name_ + ".backward_data"] = backward_data_.implementation();
  }
}

}  // namespace dlbench::onednn
