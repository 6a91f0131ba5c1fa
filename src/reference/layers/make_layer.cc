#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

template <class Scalar>
LayerPtr<Scalar> MakeActivation(const std::string& op) {
  if (op == "sigmoid") return MakeSigmoid<Scalar>();
  if (op == "tanh") return MakeTanh<Scalar>();
  if (op == "relu") return MakeRelu<Scalar>();
  return nullptr;
}

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakeLayer(const network::Node& node, std::int64_t input_elements,
                                   Sums<Scalar>& sums) {
  if (node.op == "dense") return MakeDense<Scalar>(node, input_elements, sums);
  auto activation = MakeActivation<Scalar>(node.op);
  if (activation == nullptr) {
    return Error(ErrorCode::kUnsupported, "node '" + node.name + "': the reference has no op '" +
                                              node.op + "'; it knows dense, relu, sigmoid, tanh");
  }
  if (network::ElementCount(node.output_shape) != input_elements) {
    return Error(ErrorCode::kInput,
                 "node '" + node.name + "': " + node.op + " of " + std::to_string(input_elements) +
                     " values cannot have the shape " + network::ToString(node.output_shape));
  }
  return activation;
}

template Result<LayerPtr<float>> MakeLayer(const network::Node&, std::int64_t, Sums<float>&);
template Result<LayerPtr<double>> MakeLayer(const network::Node&, std::int64_t, Sums<double>&);

}  // namespace dlbench::reference
