#include "convert.h"

namespace dlbench::onednn {
namespace {

using adapter::Unsupported;

[[noreturn]] void Refuse(const adapter::Node& node, const std::string& reason) {
  throw Unsupported("node '" + node.name + "' (" + node.op + "): " + reason);
}

LayerSpec ToLayer(const adapter::Node& node) {
  LayerSpec layer;
  layer.name = node.name;
  if (node.op == "dense") {
    layer.units = node.Integer("units");
    layer.has_bias = node.Bool("bias");
    const adapter::Parameter* weight = node.Find("weight");
    const adapter::Parameter* bias = node.Find("bias");
    if (weight == nullptr || (bias != nullptr) != layer.has_bias) {
      Refuse(node, "its parameters are not the weight and bias of its attributes");
    }
    layer.weight_decays = weight->decays;
    layer.bias_decays = bias != nullptr && bias->decays;
    return layer;
  }
  if (node.op == "sigmoid") layer.activation = Activation::kSigmoid;
  if (node.op == "tanh") layer.activation = Activation::kTanh;
  if (node.op == "relu") layer.activation = Activation::kRelu;
  if (layer.activation == Activation::kNone) Refuse(node, "this operation is not built");
  return layer;
}

}  // namespace

NetworkSpec ToChain(const adapter::Network& network) {
  if (network.input_shape.size() != 1) {
    throw Unsupported("an input of shape " + adapter::ToString(network.input_shape) +
                      " is not built; only vectors are");
  }
  NetworkSpec chain;
  chain.input_width = network.input_shape[0];
  std::string previous = "input";
  for (const adapter::Node& node : network.nodes) {
    if (node.inputs != std::vector<std::string>{previous}) {
      Refuse(node, "its input is not the node before it; only chains are built");
    }
    if (node.output_shape.size() != 1) {
      Refuse(node, "an output of shape " + adapter::ToString(node.output_shape) +
                       " is not built; only vectors are");
    }
    chain.layers.push_back(ToLayer(node));
    previous = node.name;
  }
  if (network.loss.kind != "softmax_cross_entropy") {
    throw Unsupported("loss " + network.loss.kind + " is not built");
  }
  if (network.loss.input != previous) {
    throw Unsupported("the loss's input is '" + network.loss.input + "', not the last node '" +
                      previous + "'; only chains are built");
  }
  chain.mean_loss = network.loss.reduction == "mean";
  if (!chain.mean_loss && network.loss.reduction != "sum") {
    throw Unsupported("loss reduction " + network.loss.reduction + " is not built");
  }
  if (network.optimizer.kind != "sgd") {
    throw Unsupported("optimizer " + network.optimizer.kind + " is not built");
  }
  chain.sgd = {static_cast<float>(network.optimizer.momentum),
               static_cast<float>(network.optimizer.weight_decay), network.optimizer.nesterov};
  return chain;
}

}  // namespace dlbench::onednn
