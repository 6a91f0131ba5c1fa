#include "product.h"

#include <utility>

#include "../dnnl_compat.h"
#include "image_layout.h"

namespace dlbench::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

/// Up to this many rows brgemm on blocked weights wins over packing a whole matrix for a short
/// product.
constexpr std::int64_t kLargestBlockedRows = 128;

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

/// The matrix [units, inputs] whose inputs come in the order of an image's layout.
Storage InOrderOf(const dnnl::memory::desc& image, std::int64_t units,
                  const dnnl::memory::desc& stored) {
  dnnl::memory::dims dims = compat::Dims(image);
  dims[0] = units;
  const std::int64_t inputs = dims[1] * dims[2] * dims[3];
  return {Context::Desc(dims, Tag::abcd), stored,
          Storage::Detour{Context::Desc(dims, *ImageTag(image)), Context::Matrix(units, inputs)}};
}

bool IsReference(const dnnl::primitive_desc_base& description) {
  return std::string(description.impl_info_str()).rfind("ref", 0) == 0;
}

}  // namespace

WeightLayout LayoutFor(Preset preset, std::int64_t rows) {
  if (preset == Preset::kDefault) return WeightLayout::kRows;
  return rows <= kLargestBlockedRows ? WeightLayout::kBlocked : WeightLayout::kColumns;
}

Product::Product(Planner& plan, ProductSpec spec)
    : spec_(std::move(spec)), bias_desc_(Context::Desc({spec_.units}, Tag::a)) {
  const Context& context = plan.context();
  const WeightLayout kind = context.layout == WeightLayout::kAuto
                                ? LayoutFor(context.preset, spec_.rows)
                                : context.layout;
  const bool has_bias = !spec_.bias.empty();
  const auto forward = compat::InnerProductForward(
      context.engine, Context::Matrix(spec_.rows, spec_.inputs),
      Context::Desc({spec_.units, spec_.inputs}, TagOf(kind)), has_bias ? &bias_desc_ : nullptr,
      Context::Matrix(spec_.rows, spec_.units), spec_.attributes);
  const dnnl::memory::desc stored = forward.weights_desc();
  const Storage storage = spec_.order == nullptr
                              ? Storage{Context::Matrix(spec_.units, spec_.inputs), stored}
                              : InOrderOf(*spec_.order, spec_.units, stored);
  weight_ = &plan.NewParameter(spec_.weight, {spec_.units, spec_.inputs}, storage);
  if (has_bias) bias_ = &plan.NewParameter(spec_.bias, {spec_.units}, {bias_desc_, bias_desc_});
  plan.Note(Key("weights"), compat::LayoutName(stored));
  spec_.order = nullptr;
}

dnnl::inner_product_forward::primitive_desc Product::Description(
    const Context& context, const dnnl::memory::desc& x, const dnnl::memory::desc& weights,
    const dnnl::memory::desc& y) const {
  return compat::InnerProductForward(context.engine, x, weights, bias_desc(), y, spec_.attributes);
}

void Product::Forward(Planner& plan, const Tensor& x, const Tensor& y) const {
  const auto forward = Description(plan.context(), x.desc(), weight_->storage.stored, y.desc());
  plan.Call(dnnl::inner_product_forward(forward), forward,
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_WEIGHTS, weight_->values},
             {DNNL_ARG_BIAS, bias_ == nullptr ? dnnl::memory() : bias_->values},
             {DNNL_ARG_DST, y}});
  plan.Note(Key("forward"), forward.impl_info_str());
}

void Product::BackwardData(Planner& plan, const Tensor& gradient, const Tensor& target) const {
  const Context& context = plan.context();
  const dnnl::memory::desc& weights = weight_->storage.stored;
  const auto forward = Description(context, target.desc(), weights, gradient.desc());
  const auto data = compat::InnerProductBackwardData(
      context.engine, target.desc(), weights, gradient.desc(), context.Attributes(), forward);
  plan.Call(dnnl::inner_product_backward_data(data), data,
            {{DNNL_ARG_DIFF_DST, gradient},
             {DNNL_ARG_WEIGHTS, weight_->values},
             {DNNL_ARG_DIFF_SRC, target}});
  plan.Note(Key("backward_data"), data.impl_info_str());
}

void Product::BackwardWeights(Planner& plan, const Tensor& x, const Tensor& gradient) const {
  const Context& context = plan.context();
  const dnnl::memory::desc& stored = weight_->storage.stored;
  const auto forward = Description(context, x.desc(), stored, gradient.desc());
  auto weights =
      compat::InnerProductBackwardWeights(context.engine, x.desc(), stored, bias_desc(),
                                          gradient.desc(), context.Attributes(), forward);
  Tensor target = weight_->gradient;
  if (IsReference(weights)) {  // Only where the rows are others than the layout was made for.
    const auto any = Context::Desc({spec_.units, spec_.inputs}, Tag::any);
    weights = compat::InnerProductBackwardWeights(
        context.engine, x.desc(), any, bias_desc(), gradient.desc(), context.Attributes(),
        Description(context, x.desc(), any, gradient.desc()));
    target = plan.NewTensor(weights.diff_weights_desc());
  }
  plan.Call(dnnl::inner_product_backward_weights(weights), weights,
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_DIFF_DST, gradient},
             {DNNL_ARG_DIFF_WEIGHTS, target},
             {DNNL_ARG_DIFF_BIAS, bias_ == nullptr ? dnnl::memory() : bias_->gradient}});
  plan.CopyTo(target, weight_->gradient);
  plan.Note(Key("backward_weights"), weights.impl_info_str());
}

}  // namespace dlbench::onednn
