#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "context.h"
#include "graph.h"
#include "memory_plan.h"
#include "parameter.h"
#include "primitive_call.h"

namespace dlbench::onednn {

/// A tensor of the step: where it lives and how it lies there.
struct Tensor {
  static constexpr int kPersistent = -1;  ///< Memory of its own, for good.
  static constexpr int kInput = -2;       ///< The batch's x, elsewhere at each step.

  Tensor() = default;
  /// Memory that lives for good.
  Tensor(dnnl::memory persistent) : memory(std::move(persistent)) {}
  Tensor(int in_slot, std::size_t at_offset, dnnl::memory seen_as)
      : slot(in_slot), offset(at_offset), memory(std::move(seen_as)) {}

  explicit operator bool() const { return static_cast<bool>(memory); }
  dnnl::memory::desc desc() const { return memory.get_desc(); }
  float* data() const { return static_cast<float*>(memory.get_data_handle()); }

  int slot = kPersistent;
  std::size_t offset = 0;  ///< Bytes behind the slot's begin.
  dnnl::memory memory;
};

/// One part of a step.
using Action = std::function<void(const StepInput&)>;

/// Plans the step of a graph: which tensors there are, in which layouts and where, and the list of
/// actions that computes them. Layers are planned forward in the network's order, then backward in
/// the opposite order; the planner knows whose turn it is. A gradient lies as its value does.
class Planner {
 public:
  Planner(const Context& context, const Graph& graph);

  // Whose turn it is.
  int index() const { return now_; }
  const adapter::Node& node() const { return graph_.node(now_); }
  const Graph& graph() const { return graph_; }
  const Context& context() const { return context_; }
  /// Of input `k`, one sample.
  const adapter::Shape& SourceShape(int k = 0) const { return graph_.shape(Source(k)); }
  /// The activation that this node applies to its own result; kNone if none.
  Activation Fused() const;
  /// Whether the node before this activation has applied it.
  bool IsFused() const;

  // Forward: values.
  const Tensor& Input(int k = 0) const { return ValueOf(Source(k)).tensor; }
  /// The input in another layout: itself, or a copy that a reorder makes.
  Tensor InputAs(const dnnl::memory::desc& wanted, int k = 0);
  /// The input as [rows, last dimension], whatever the rows are.
  Tensor InputMatrix(int k = 0);
  /// How the columns of InputMatrix are ordered, if not as in the files: after a flatten.
  const dnnl::memory::desc* InputOrder(int k = 0) const;
  /// This node's result, in memory of its own. `kept`: its backward part reads it.
  const Tensor& NewOutput(const dnnl::memory::desc& desc, bool kept = false);
  /// The same in the memory of `tensor`, of which it is a view (an input passed on, or part of
  /// something larger); `order` as InputOrder.
  const Tensor& SetOutput(Tensor tensor, bool kept, const dnnl::memory::desc* order = nullptr);
  /// Whether this node may write its result over input `k`: nobody else reads it.
  bool MayOverwrite(int k = 0) const;
  /// Whether anybody but this node reads input `k` in the rest of the step.
  bool InputIsKept(int k = 0) const { return !MayOverwrite(k); }
  const Tensor& Output() const { return ValueOf(now_).tensor; }

  // Backward: gradients.
  /// Of the result, in the layout of Output(), complete.
  const Tensor& OutputGradient() const { return gradients_[Index(now_)]; }
  bool Wants(int k = 0) const { return graph_.trained(Source(k)); }
  /// Memory in which this node will compute its contribution to the gradient of input `k`, in
  /// `desc`; with `in_place` it is that of OutputGradient() where nobody else reads that.
  Tensor NewGradient(const dnnl::memory::desc& desc, bool in_place);
  /// Adds a contribution to the gradient of input `k`: reordered and summed as needed.
  void Deliver(const Tensor& contribution, int k = 0);

  // Tensors and parameters.
  /// Memory that lives from now to the last action that uses it.
  Tensor NewTensor(const dnnl::memory::desc& desc);
  /// The same bytes, `offset` bytes further, seen in another way.
  Tensor View(const Tensor& tensor, const dnnl::memory::desc& desc, std::size_t offset = 0);
  /// `tensor` in another layout: itself, or a reordered copy.
  Tensor As(const Tensor& tensor, const dnnl::memory::desc& wanted);
  /// A reorder from one to the other; nothing where both are the same.
  void CopyTo(const Tensor& from, const Tensor& to);
  /// The parameter "<node>.<suffix>", whose shape must be `shape`.
  Parameter& NewParameter(const std::string& suffix, const adapter::Shape& shape,
                          const Storage& storage);
  /// Null if the network has no such buffer.
  StateBuffer* NewBuffer(const std::string& suffix);

  // Actions.
  using Arguments = std::initializer_list<std::pair<int, Tensor>>;
  void Call(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& description,
            Arguments arguments);
  /// `used`: the tensors of the step that `action` reads or writes.
  void Run(std::initializer_list<Tensor> used, Action action);
  /// Extends a tensor's life to now.
  void Use(const Tensor& tensor);
  /// A line for the record, under "<node>.<key>".
  void Note(const std::string& key, const std::string& text);

  // The engine's part.
  void BeginForward(int index);
  void BeginLoss();
  void BeginBackward(int index);
  void EndBackward();  ///< Updates the node's parameters; its gradient may be overwritten.
  const Tensor& ValueAt(int index) const { return ValueOf(index).tensor; }
  /// The first contribution to the gradient of the logits.
  void SetLogitsGradient(const Tensor& gradient);
  /// Reserves all memory.
  void Commit();
  void SetInput(const float* x);
  const std::vector<Action>& forward() const { return forward_; }
  const std::vector<Action>& backward() const { return backward_; }
  const std::vector<std::unique_ptr<Parameter>>& parameters() const { return parameters_; }
  const std::vector<std::unique_ptr<StateBuffer>>& buffers() const { return buffers_; }
  const std::map<std::string, std::string>& notes() const { return notes_; }
  std::size_t bytes() const;

 private:
  struct Value {
    Tensor tensor;
    bool kept = true;
    dnnl::memory::desc order;
    bool has_order = false;
  };

  static std::size_t Index(int index) { return static_cast<std::size_t>(index); }
  int Source(int k) const { return graph_.inputs(now_)[Index(k)]; }
  const Value& ValueOf(int index) const {
    return index == Graph::kInput ? input_ : values_[Index(index)];
  }
  std::vector<Action>& Actions() { return is_backward_ ? backward_ : forward_; }
  void Add(const Tensor& a, const Tensor& b, const Tensor& sum);
  int& Holders(const Tensor& tensor) { return holders_[tensor.slot]; }

  const Context& context_;
  const Graph& graph_;
  MemoryPlan memory_;
  Value input_;
  std::vector<dnnl::memory> input_views_;
  std::vector<Value> values_;      ///< By node.
  std::vector<Tensor> gradients_;  ///< By node; empty before the first contribution.
  std::map<int, int> holders_;     ///< By slot: how many gradients lie in it.
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::map<int, std::vector<Parameter*>> of_node_;
  std::vector<std::unique_ptr<StateBuffer>> buffers_;
  std::deque<PrimitiveCall> calls_;
  std::vector<Action> forward_, backward_;
  std::map<std::string, std::string> notes_;
  Buffer scratchpad_;
  int now_ = 0;   ///< The node.
  int time_ = 0;  ///< The moment of the step.
  bool is_backward_ = false;
};

}  // namespace dlbench::onednn
