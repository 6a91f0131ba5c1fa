#include "activation.h"

#include <utility>

#include "dnnl_compat.h"

namespace dlbench::onednn {

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

ActivationLayer::ActivationLayer(const Context& context, std::string name, Activation activation,
                                 Forwards forwards, const LayerMatrices& matrices)
    : name_(std::move(name)) {
  const dnnl::algorithm algorithm = EltwiseAlgorithm(activation);
  const dnnl::memory::desc data = matrices.output.get_desc();
  const auto forward =
      compat::EltwiseForward(context.engine, algorithm, data, context.Attributes());
  if (forwards == Forwards::kHere) {
    forward_ = PrimitiveCall(dnnl::eltwise_forward(forward), forward,
                             {{DNNL_ARG_SRC, matrices.input}, {DNNL_ARG_DST, matrices.output}});
  }
  if (!matrices.input_gradient) return;
  const auto backward =
      compat::EltwiseBackward(context.engine, algorithm, data, context.Attributes(), forward);
  backward_ = PrimitiveCall(dnnl::eltwise_backward(backward), backward,
                            {{DNNL_ARG_DST, matrices.output},
                             {DNNL_ARG_DIFF_DST, matrices.output_gradient},
                             {DNNL_ARG_DIFF_SRC, matrices.input_gradient}});
}

void ActivationLayer::Forward(const Context& context) {
  if (!forward_.empty()) forward_.Execute(context.stream);
}

void ActivationLayer::Backward(const Context& context) {
  if (!backward_.empty()) backward_.Execute(context.stream);
}

std::vector<PrimitiveCall*> ActivationLayer::calls() { return {&forward_, &backward_}; }

void ActivationLayer::Describe(std::map<std::string, std::string>& settings) const {
  settings[name_ + ".forward"] =
      forward_.empty() ? "in the product before it" : forward_.implementation();
  if (!backward_.empty()) settings[name_ + ".backward"] = backward_.implementation();
}

}  // namespace dlbench::onednn
