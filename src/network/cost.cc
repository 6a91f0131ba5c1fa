#include "network/cost.h"

#include <limits>
#include <map>

#include "network/ops/op.h"

namespace dlbench::network {
namespace {

constexpr std::int64_t kFloat32Bytes = 4;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

/// a * b, or the largest integer where that does not fit.
std::int64_t Times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kLargest : product;
}

/// a + b, or the largest integer where that does not fit.
std::int64_t Plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kLargest : sum;
}

struct Tensor {
  LayerInput content;
  bool trained = false;  ///< Whether a parameter stands before it.
};

/// Nothing is inferred for a node built by hand that does not fit its op.
Inference Infer(const Node& node, const std::vector<LayerInput>& inputs) {
  const Op* op = FindOp(node.op);
  if (op == nullptr || inputs.size() != op->inputs) return {};
  for (const AttributeSpec& spec : op->attributes) {
    if (node.attributes.count(spec.name) == 0) return {};
  }
  auto inference = op->infer(node.attributes, inputs);
  return inference ? std::move(inference).value() : Inference();
}

void AddTraffic(const std::vector<Tensor>& inputs, NodeCost& cost) {
  // An embedding reads as many numbers of its table as it writes, and the same for the gradient.
  const bool embeds = !inputs.empty() && inputs.front().content.vocabulary > 0;
  cost.forward_bytes = Times(cost.activation_bytes, embeds ? 2 : 1);
  cost.backward_bytes = cost.forward_bytes;
  for (const Tensor& input : inputs) {
    const std::int64_t bytes = Times(ElementCount(input.content.shape), kFloat32Bytes);
    cost.forward_bytes = Plus(cost.forward_bytes, bytes);
    cost.backward_bytes = Plus(cost.backward_bytes, Times(bytes, input.trained ? 2 : 1));
  }
}

}  // namespace

std::vector<NodeCost> Costs(const Network& network) {
  std::map<std::string, Tensor> tensors{
      {"input", {{network.input.shape, network.input.vocabulary}, false}}};
  std::vector<NodeCost> costs;
  for (const Node& node : network.nodes) {
    NodeCost cost;
    cost.name = node.name;
    cost.op = node.op;
    cost.output_shape = node.output_shape;
    std::vector<Tensor> inputs;
    std::vector<LayerInput> contents;
    for (const std::string& input : node.inputs) {
      const auto found = tensors.find(input);
      if (found == tensors.end()) continue;
      inputs.push_back(found->second);
      contents.push_back(found->second.content);
      cost.input_needs_gradient = cost.input_needs_gradient || found->second.trained;
    }
    for (const Parameter& parameter : node.parameters) {
      cost.parameters = Plus(cost.parameters, ElementCount(parameter.shape));
    }
    const bool trained = cost.input_needs_gradient || cost.parameters > 0;
    const Inference inference = Infer(node, contents);
    cost.multiply_adds = inference.multiply_adds;
    cost.backward_multiply_adds =
        cost.input_needs_gradient
            ? Times(2, cost.multiply_adds)
            : Times(2, cost.multiply_adds) - inference.input_gradient_multiply_adds;
    cost.activation_bytes = Times(ElementCount(node.output_shape), kFloat32Bytes);
    cost.parameter_bytes = Times(cost.parameters, kFloat32Bytes);
    AddTraffic(inputs, cost);
    if (!trained) cost.backward_bytes = 0;
    tensors[node.name] = {{node.output_shape, 0}, trained};
    costs.push_back(std::move(cost));
  }
  return costs;
}

std::int64_t ForwardMultiplyAdds(const Network& network) {
  std::int64_t total = 0;
  for (const NodeCost& cost : Costs(network)) total = Plus(total, cost.multiply_adds);
  return total;
}

std::int64_t TrainingStepFlops(const Network& network, std::int64_t batch) {
  std::int64_t passes = 0;
  for (const NodeCost& cost : Costs(network)) {
    passes = Plus(passes, Plus(cost.multiply_adds, cost.backward_multiply_adds));
  }
  return Times(2 * batch, passes);
}

std::int64_t TokensPerSample(const Network& network) {
  return network.input.kind == Input::Kind::kTokens ? ElementCount(network.input.shape) : 0;
}

}  // namespace dlbench::network
