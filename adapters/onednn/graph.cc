#include "graph.h"

#include <algorithm>
#include <utility>

namespace dlbench::onednn {

using adapter::Unsupported;

Activation ActivationOf(const std::string& op) {
  if (op == "sigmoid") return Activation::kSigmoid;
  if (op == "tanh") return Activation::kTanh;
  if (op == "relu") return Activation::kRelu;
  return Activation::kNone;
}

void Refuse(const adapter::Node& node, const std::string& reason) {
  throw Unsupported("node '" + node.name + "' (" + node.op + "): " + reason);
}

Graph::Graph(adapter::Network network) : network_(std::move(network)) {
  for (int index = 0; index < size(); ++index) {
    const adapter::Node& at = node(index);
    inputs_.emplace_back();
    consumers_.emplace_back();
    bool trained = !at.parameters.empty();
    for (const std::string& name : at.inputs) {
      const int input = Find(name, index);
      inputs_.back().push_back(input);
      if (input != kInput) consumers_[At(input)].push_back(index);
      trained = trained || this->trained(input);
    }
    trained_.push_back(trained);
    const std::size_t wanted = at.op == "add" ? 2 : 1;
    if (at.inputs.size() != wanted) {
      Refuse(at, "it has " + std::to_string(at.inputs.size()) + " inputs instead of " +
                     std::to_string(wanted));
    }
  }
  CheckTraining();
}

void Graph::CheckTraining() {
  if (network_.loss.kind != "softmax_cross_entropy") {
    throw Unsupported("loss " + network_.loss.kind + " is not built");
  }
  if (network_.loss.reduction != "mean" && network_.loss.reduction != "sum") {
    throw Unsupported("loss reduction " + network_.loss.reduction + " is not built");
  }
  if (network_.optimizer.kind != "sgd") {
    throw Unsupported("optimizer " + network_.optimizer.kind + " is not built");
  }
  const auto last = std::find_if(network_.nodes.begin(), network_.nodes.end(),
                                 [&](const auto& at) { return at.name == network_.loss.input; });
  if (last == network_.nodes.end()) {
    throw Unsupported("the loss's input '" + network_.loss.input + "' is no node");
  }
  logits_ = static_cast<int>(last - network_.nodes.begin());
  if (!trained(logits_)) {
    throw Unsupported("nothing before the loss has parameters, so there is nothing to train");
  }
  for (int index = 0; index < size(); ++index) {
    if (index != logits_ && consumers(index).empty()) Refuse(node(index), "nothing uses it");
  }
}

int Graph::Find(const std::string& name, int before) const {
  if (name == "input") return kInput;
  for (int index = 0; index < before; ++index) {
    if (node(index).name == name) return index;
  }
  Refuse(node(before), "its input '" + name + "' is no node before it");
}

int Graph::dropout_index(int index) const {
  return static_cast<int>(std::count_if(network_.nodes.begin(), network_.nodes.begin() + index,
                                        [](const auto& at) { return at.op == "dropout"; }));
}

SgdRule Graph::sgd() const {
  const adapter::Optimizer& optimizer = network_.optimizer;
  return {static_cast<float>(optimizer.momentum), static_cast<float>(optimizer.weight_decay),
          optimizer.nesterov};
}

int Graph::FusableActivation(int index) const {
  if (index == kInput || index == logits_ || consumers(index).size() != 1) return kInput;
  const int next = consumers(index)[0];
  const Activation activation = ActivationOf(node(next).op);
  if (activation == Activation::kNone) return kInput;
  const std::string& op = node(index).op;
  if (op == "dense" || op == "conv2d") return next;
  const bool takes_relu = op == "batch_norm" || op == "add";
  return takes_relu && activation == Activation::kRelu ? next : kInput;
}

}  // namespace dlbench::onednn
