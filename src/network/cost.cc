#include "network/cost.h"

#include <limits>
#include <map>

#include "network/ops/op.h"

namespace dlbench::network {
namespace {

constexpr std::int64_t kFloat32Bytes = 4;

/// a * b, or the largest integer where that does not fit.
std::int64_t SaturatingProduct(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

struct Tensor {
  Shape shape;
  bool trained = false;  ///< Whether a parameter stands before it.
};

std::int64_t MultiplyAdds(const Node& node, const std::vector<Shape>& input_shapes) {
  const Op* op = FindOp(node.op);
  if (op == nullptr || input_shapes.size() != op->inputs) return 0;
  for (const AttributeSpec& spec : op->attributes) {
    if (node.attributes.count(spec.name) == 0) return 0;
  }
  const auto inference = op->infer(node.attributes, input_shapes);
  return inference ? inference->multiply_adds : 0;
}

}  // namespace

std::vector<NodeCost> Costs(const Network& network) {
  std::map<std::string, Tensor> tensors{{"input", {network.input.shape, false}}};
  std::vector<NodeCost> costs;
  for (const Node& node : network.nodes) {
    NodeCost cost;
    cost.name = node.name;
    cost.op = node.op;
    cost.output_shape = node.output_shape;
    std::vector<Shape> input_shapes;
    for (const std::string& input : node.inputs) {
      const auto found = tensors.find(input);
      if (found == tensors.end()) continue;
      input_shapes.push_back(found->second.shape);
      cost.input_needs_gradient = cost.input_needs_gradient || found->second.trained;
    }
    for (const Parameter& parameter : node.parameters) {
      cost.parameters += ElementCount(parameter.shape);
    }
    cost.multiply_adds = MultiplyAdds(node, input_shapes);
    cost.activation_bytes = SaturatingProduct(ElementCount(node.output_shape), kFloat32Bytes);
    cost.parameter_bytes = SaturatingProduct(cost.parameters, kFloat32Bytes);
    tensors[node.name] = {node.output_shape, cost.input_needs_gradient || cost.parameters > 0};
    costs.push_back(std::move(cost));
  }
  return costs;
}

std::int64_t ForwardMultiplyAdds(const Network& network) {
  std::int64_t total = 0;
  for (const NodeCost& cost : Costs(network)) total += cost.multiply_adds;
  return total;
}

std::int64_t TrainingStepFlops(const Network& network, std::int64_t batch) {
  std::int64_t passes = 0;
  for (const NodeCost& cost : Costs(network)) {
    passes += cost.multiply_adds * (cost.input_needs_gradient ? 3 : 2);
  }
  return SaturatingProduct(2 * batch, passes);
}

}  // namespace dlbench::network
