#include "planner.h"

#include <algorithm>

#include "dnnl_compat.h"
#include "elementwise.h"
#include "sgd.h"

namespace dlbench::onednn {

Planner::Planner(const Context& context, const Graph& graph)
    : context_(context),
      graph_(graph),
      memory_(context.engine),
      values_(Index(graph.size())),
      gradients_(Index(graph.size())) {
  const adapter::Network& network = graph.network();
  if (network.input_kind == "tokens") return;
  const dnnl::memory::desc desc = context.FileOrder(network.input_shape);
  input_.tensor = {Tensor::kInput, 0, dnnl::memory(desc, context.engine, DNNL_MEMORY_NONE)};
  input_views_.push_back(input_.tensor.memory);
}

Activation Planner::Fused() const {
  const int next = context_.fuses() ? graph_.FusableActivation(now_) : Graph::kInput;
  return next == Graph::kInput ? Activation::kNone : ActivationOf(graph_.node(next).op);
}

bool Planner::IsFused() const {
  return context_.fuses() && graph_.FusableActivation(Source(0)) == now_;
}

Tensor Planner::InputAs(const dnnl::memory::desc& wanted, int k) { return As(Input(k), wanted); }

Tensor Planner::InputMatrix(int k) {
  const std::int64_t columns = SourceShape(k).back();
  const dnnl::memory::desc plain = context_.Plain(SourceShape(k));
  const Tensor rows = InputOrder(k) != nullptr ? Input(k) : InputAs(plain, k);
  return View(rows, Context::Matrix(StoredElements(plain) / columns, columns));
}

const dnnl::memory::desc* Planner::InputOrder(int k) const {
  const Value& value = ValueOf(Source(k));
  return value.has_order ? &value.order : nullptr;
}

const Tensor& Planner::NewOutput(const dnnl::memory::desc& desc, bool kept) {
  return SetOutput(NewTensor(desc), kept);
}

const Tensor& Planner::SetOutput(Tensor tensor, bool kept, const dnnl::memory::desc* order) {
  Value& value = values_[Index(now_)];
  value.tensor = std::move(tensor);
  value.kept = kept;
  value.has_order = order != nullptr;
  if (order != nullptr) value.order = *order;
  Use(value.tensor);
  return value.tensor;
}

bool Planner::MayOverwrite(int k) const {
  const int source = Source(k);
  return source != Graph::kInput && source != graph_.logits() && !ValueOf(source).kept &&
         graph_.consumers(source).size() == 1;
}

Tensor Planner::NewGradient(const dnnl::memory::desc& desc, bool in_place) {
  const Tensor& gradient = OutputGradient();
  if (in_place && Holders(gradient) == 1 && gradient.desc().get_size() == desc.get_size()) {
    return View(gradient, desc);
  }
  return NewTensor(desc);
}

void Planner::Add(const Tensor& a, const Tensor& b, const Tensor& sum) {
  const int threads = context_.threads;
  const std::int64_t count = StoredElements(sum.desc());
  Run({a, b, sum},
      [=](const StepInput&) { AddValues(threads, count, a.data(), b.data(), sum.data()); });
}

void Planner::Deliver(const Tensor& contribution, int k) {
  const int source = Source(k);
  if (!graph_.trained(source)) return;
  Tensor& gradient = gradients_[Index(source)];
  Tensor added = As(contribution, ValueOf(source).tensor.desc());
  if (!gradient) {
    gradient = added;
    ++Holders(gradient);
    return;
  }
  // The sum goes where nobody else will read: the new part, the old one, or somewhere new.
  const Tensor old = gradient;
  if (Holders(added) > 0) {
    gradient = Holders(old) == 1 ? old : NewTensor(old.desc());
  } else {
    gradient = added;
  }
  Add(added, old, gradient);
  --Holders(old);
  ++Holders(gradient);
}

Tensor Planner::NewTensor(const dnnl::memory::desc& desc) {
  const int slot = memory_.Reserve(desc.get_size(), time_);
  return {slot, 0, memory_.View(slot, 0, desc)};
}

Tensor Planner::View(const Tensor& tensor, const dnnl::memory::desc& desc, std::size_t offset) {
  const std::size_t begin = tensor.offset + offset;
  if (tensor.slot == Tensor::kPersistent) {
    return {dnnl::memory(desc, context_.engine, tensor.data() + offset / sizeof(float))};
  }
  if (tensor.slot == Tensor::kInput) {
    input_views_.push_back(dnnl::memory(desc, context_.engine, DNNL_MEMORY_NONE));
    return {Tensor::kInput, 0, input_views_.back()};
  }
  return {tensor.slot, begin, memory_.View(tensor.slot, begin, desc)};
}

Tensor Planner::As(const Tensor& tensor, const dnnl::memory::desc& wanted) {
  if (tensor.desc() == wanted) return tensor;
  const Tensor copy = NewTensor(wanted);
  CopyTo(tensor, copy);
  return copy;
}

void Planner::CopyTo(const Tensor& from, const Tensor& to) {
  if (from.memory.get() == to.memory.get()) return;
  const dnnl::reorder::primitive_desc description(context_.engine, from.desc(), context_.engine,
                                                  to.desc(), context_.Attributes());
  Call(dnnl::reorder(description), description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  std::string& note = notes_[node().name + (is_backward_ ? ".backward" : ".forward") + "_reorders"];
  note += (note.empty() ? "" : "; ") + compat::LayoutName(from.desc()) + " to " +
          compat::LayoutName(to.desc());
}

Parameter& Planner::NewParameter(const std::string& suffix, const adapter::Shape& shape,
                                 const Storage& storage) {
  const adapter::Parameter* found = node().Find(suffix);
  if (found == nullptr) Refuse(node(), "it has no parameter '" + suffix + "'");
  if (found->shape != shape) {
    Refuse(node(), "its parameter '" + suffix + "' has the shape " +
                       adapter::ToString(found->shape) + " instead of " + adapter::ToString(shape));
  }
  parameters_.push_back(std::make_unique<Parameter>(context_, *found, storage));
  of_node_[now_].push_back(parameters_.back().get());
  return *parameters_.back();
}

StateBuffer* Planner::NewBuffer(const std::string& suffix) {
  const adapter::Buffer* found = node().FindBuffer(suffix);
  if (found == nullptr) return nullptr;
  buffers_.push_back(std::make_unique<StateBuffer>(*found));
  return buffers_.back().get();
}

void Planner::Call(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& description,
                   Arguments arguments) {
  std::vector<std::pair<int, dnnl::memory>> bound;
  for (const auto& [argument, tensor] : arguments) {
    if (!tensor) continue;
    bound.emplace_back(argument, tensor.memory);
    Use(tensor);
  }
  calls_.emplace_back(primitive, description, bound);
  const PrimitiveCall* call = &calls_.back();
  Actions().push_back([call, this](const StepInput&) { call->Execute(context_.stream); });
}

void Planner::Run(std::initializer_list<Tensor> used, Action action) {
  for (const Tensor& tensor : used) {
    if (tensor) Use(tensor);
  }
  Actions().push_back(std::move(action));
}

void Planner::Use(const Tensor& tensor) {
  if (tensor.slot >= 0) memory_.Use(tensor.slot, time_);
}

void Planner::Note(const std::string& key, const std::string& text) {
  notes_[node().name + "." + key] = text;
}

void Planner::BeginForward(int index) {
  now_ = index;
  time_ = index;
}

void Planner::BeginLoss() {
  now_ = graph_.logits();
  time_ = graph_.size();
}

void Planner::BeginBackward(int index) {
  is_backward_ = true;
  now_ = index;
  time_ = 2 * graph_.size() - index;
  if (!OutputGradient()) Refuse(node(), "the loss does not depend on it");
}

void Planner::EndBackward() {
  // At once, while the gradient is in the caches; nobody needs the old weights any more.
  for (Parameter* parameter : of_node_[now_]) {
    Run({}, [parameter, this](const StepInput& input) {
      SgdUpdate(context_.sgd, parameter->decays, input.learning_rate, context_.threads,
                parameter->stored_elements,
                static_cast<const float*>(parameter->gradient.get_data_handle()),
                static_cast<float*>(parameter->values.get_data_handle()),
                parameter->velocity ? static_cast<float*>(parameter->velocity.get_data_handle())
                                    : nullptr);
    });
  }
  --Holders(OutputGradient());
}

void Planner::SetLogitsGradient(const Tensor& gradient) {
  gradients_[Index(graph_.logits())] = gradient;
  Holders(gradient) = 1;
  Use(gradient);
}

void Planner::Commit() {
  // The logits are read after the step.
  time_ = 2 * graph_.size() + 1;
  Use(ValueAt(graph_.logits()));
  memory_.Commit();
  std::size_t largest = 0;
  for (const PrimitiveCall& call : calls_) largest = std::max(largest, call.scratchpad_bytes());
  scratchpad_ = Buffer(largest);
  for (PrimitiveCall& call : calls_) call.UseScratchpad(scratchpad_.data());
}

void Planner::SetInput(const float* x) {
  for (dnnl::memory& view : input_views_) view.set_data_handle(const_cast<float*>(x));  // read only
}

std::size_t Planner::bytes() const {
  std::size_t total = memory_.bytes() + scratchpad_.bytes();
  for (const auto& parameter : parameters_) total += parameter->bytes();
  for (const auto& buffer : buffers_) total += buffer->storage.bytes();
  return total;
}

}  // namespace dlbench::onednn
