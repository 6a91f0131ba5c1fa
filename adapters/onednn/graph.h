#pragma once

#include <vector>

#include "dlbench_adapter.h"
#include "spec.h"

namespace dlbench::onednn {

/// The network of `prepare` with its edges resolved. Node indices are execution order.
class Graph {
 public:
  /// In place of a node's index: the network's input.
  static constexpr int kInput = -1;

  /// Throws adapter::Unsupported, with the node and the reason, for whatever the engine lacks.
  explicit Graph(adapter::Network network);

  const adapter::Network& network() const { return network_; }
  int size() const { return static_cast<int>(network_.nodes.size()); }
  const adapter::Node& node(int index) const { return network_.nodes[At(index)]; }
  const std::vector<int>& inputs(int index) const { return inputs_[At(index)]; }
  /// Nodes that read the result, one entry an edge; the loss is not among them.
  const std::vector<int>& consumers(int index) const { return consumers_[At(index)]; }
  /// The node whose result is the logits.
  int logits() const { return logits_; }
  /// Whether the gradient of a node's result is needed: something before it is trained.
  bool trained(int index) const { return index != kInput && trained_[At(index)]; }
  const adapter::Shape& shape(int index) const {
    return index == kInput ? network_.input_shape : node(index).output_shape;
  }
  /// Position among the dropouts, for StepInput::masks.
  int dropout_index(int index) const;
  SgdRule sgd() const;
  bool mean_loss() const { return network_.loss.reduction == "mean"; }

  /// The activation that is the only consumer of node `index`, whose op can apply it to its own
  /// result; kInput if there is none.
  int FusableActivation(int index) const;

 private:
  static std::size_t At(int index) { return static_cast<std::size_t>(index); }
  int Find(const std::string& name, int before) const;
  void CheckTraining();  ///< And finds the logits.

  adapter::Network network_;
  std::vector<std::vector<int>> inputs_, consumers_;
  std::vector<bool> trained_;
  int logits_ = kInput;
};

/// kNone for an op that is no activation.
Activation ActivationOf(const std::string& op);
/// Throws adapter::Unsupported with the node's name and op before the reason.
[[noreturn]] void Refuse(const adapter::Node& node, const std::string& reason);

}  // namespace dlbench::onednn
