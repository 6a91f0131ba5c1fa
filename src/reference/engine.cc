#include "reference/engine.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>

#include "reference/layers/layer.h"
#include "reference/layers/softmax_cross_entropy.h"
#include "reference/sgd.h"

namespace dlbench::reference {
namespace {

constexpr const char* kDataInput = "input";

template <class Scalar>
std::vector<double> ToDouble(const Matrix<Scalar>& matrix) {
  return {matrix.values.begin(), matrix.values.end()};
}

// A node with the tensors of one batch.
template <class Scalar>
struct BuiltNode {
  std::string name;
  LayerPtr<Scalar> layer;
  std::vector<std::int64_t> inputs;  // indices of the nodes that feed it; -1: the data
  network::Shape shape;              // of one sample of its output
  bool trains = false;               // whether anything up to here has parameters
  bool reached = false;              // whether the loss depends on it, in the current backward pass
  Matrix<Scalar> output;
  Matrix<Scalar> gradient;  // has values only while the backward pass needs them
};

// Rows as layers want them: one a sample, or one a token of a sequence [T, D].
template <class Scalar>
Matrix<Scalar> MatrixFor(const network::Shape& shape, std::int64_t batch) {
  if (shape.size() == 2) return Matrix<Scalar>(batch * shape[0], shape[1]);
  return Matrix<Scalar>(batch, network::ElementCount(shape));
}

template <class Scalar>
class TypedEngine final : public Engine {
 public:
  TypedEngine(const network::Network& network, std::int64_t batch, Arithmetic arithmetic)
      : optimizer_(network.optimizer),
        sums_(arithmetic),
        loss_(network.loss.reduction == "mean" ? SoftmaxCrossEntropy<Scalar>::Reduction::kMean
                                               : SoftmaxCrossEntropy<Scalar>::Reduction::kSum,
              sums_),
        batch_(batch),
        input_shape_(network.input.shape),
        input_(MatrixFor<Scalar>(network.input.shape, batch)) {}

  Status Build(const network::Network& network) {
    for (const auto& node : network.nodes) DLBENCH_RETURN_IF_ERROR(AddNode(node));
    const auto logits = IndexOf(network.loss.input);
    if (!logits || *logits < 0) {
      return Error(ErrorCode::kInput,
                   "the loss takes '" + network.loss.input + "', which no node is called");
    }
    logits_ = static_cast<std::size_t>(*logits);
    const Matrix<Scalar>& output = nodes_[logits_].output;
    logits_gradient_ = Matrix<Scalar>(output.rows, output.columns);
    if (output.columns == network.classes) return {};
    return Error(ErrorCode::kInput, "the loss takes '" + network.loss.input + "' with " +
                                        std::to_string(nodes_[logits_].output.columns) +
                                        " values a sample, but there are " +
                                        std::to_string(network.classes) + " classes");
  }

  void SetState(const State& state) override {
    SetWeights(state.weights);
    for (BufferTensor<Scalar>* buffer : Buffers()) {
      const auto found = state.buffers.find(buffer->name);
      if (found != state.buffers.end()) Assign(found->second, buffer->value, buffer->name);
    }
    for (ParameterTensor<Scalar>* tensor : Tensors()) {
      const auto velocity = state.velocity.find(tensor->name);
      if (velocity == state.velocity.end()) continue;
      Assign(velocity->second, tensor->velocity, tensor->name);
    }
  }

  void SetWeights(const std::map<std::string, std::vector<double>>& weights) override {
    for (ParameterTensor<Scalar>* tensor : Tensors()) {
      const auto found = weights.find(tensor->name);
      if (found == weights.end()) {
        throw std::invalid_argument("reference state lacks the weights '" + tensor->name + "'");
      }
      Assign(found->second, tensor->value, tensor->name);
      std::fill(tensor->velocity.values.begin(), tensor->velocity.values.end(), Scalar{0});
    }
    for (BufferTensor<Scalar>* buffer : Buffers()) {
      std::fill(buffer->value.values.begin(), buffer->value.values.end(),
                static_cast<Scalar>(buffer->initial));
    }
  }

  void SetMasks(const Masks& masks) override {
    for (auto& node : nodes_) {
      const auto mask = masks.find(node.name);
      node.layer->SetMask(mask == masks.end() ? std::span<const std::uint8_t>() : mask->second);
    }
  }

  State GetState() const override {
    State state;
    for (const ParameterTensor<Scalar>* tensor : Tensors()) {
      state.weights[tensor->name] = ToDouble(tensor->value);
      state.velocity[tensor->name] = ToDouble(tensor->velocity);
    }
    state.buffers = GetBuffers();
    return state;
  }

  std::map<std::string, std::vector<double>> GetWeights() const override {
    std::map<std::string, std::vector<double>> weights;
    for (const ParameterTensor<Scalar>* tensor : Tensors()) {
      weights[tensor->name] = ToDouble(tensor->value);
    }
    return weights;
  }

  std::map<std::string, std::vector<double>> GetBuffers() const override {
    std::map<std::string, std::vector<double>> buffers;
    for (const BufferTensor<Scalar>* buffer : Buffers()) {
      buffers[buffer->name] = ToDouble(buffer->value);
    }
    return buffers;
  }

  StepResult Step(std::span<const float> x, std::span<const std::int32_t> labels,
                  double learning_rate, bool keep_activations) override {
    StepResult result = RunForward(x, labels, keep_activations, &logits_gradient_);
    AddGradients(result);
    Update(learning_rate);
    return result;
  }

  StepResult Differentiate(std::span<const float> x,
                           std::span<const std::int32_t> labels) override {
    StepResult result = RunForward(x, labels, false, &logits_gradient_);
    AddGradients(result);
    return result;
  }

  double Advance(std::span<const float> x, std::span<const std::int32_t> labels,
                 double learning_rate) override {
    const double loss = RunForward(x, labels, false, &logits_gradient_).loss;
    RunBackward();
    Update(learning_rate);
    return loss;
  }

  StepResult Forward(std::span<const float> x, std::span<const std::int32_t> labels,
                     bool keep_activations) override {
    return RunForward(x, labels, keep_activations, nullptr);
  }

 private:
  void AddGradients(StepResult& result) {
    RunBackward();
    for (ParameterTensor<Scalar>* tensor : Tensors()) {
      result.gradients[tensor->name] = ToDouble(tensor->gradient);
    }
  }

  void Update(double learning_rate) {
    for (ParameterTensor<Scalar>* tensor : Tensors()) {
      SgdUpdate<Scalar>(optimizer_, tensor->decays, learning_rate, tensor->gradient.values,
                        tensor->value.values, tensor->velocity.values);
    }
    for (BufferTensor<Scalar>* buffer : Buffers()) buffer->value = buffer->next;
  }

  // -1 for the data, nothing for a name that is not known yet.
  std::optional<std::int64_t> IndexOf(const std::string& name) const {
    if (name == kDataInput) return -1;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].name == name) return static_cast<std::int64_t>(i);
    }
    return std::nullopt;
  }

  const Matrix<Scalar>& OutputOf(std::int64_t index) const {
    return index < 0 ? input_ : nodes_[static_cast<std::size_t>(index)].output;
  }

  const network::Shape& ShapeOf(std::int64_t index) const {
    return index < 0 ? input_shape_ : nodes_[static_cast<std::size_t>(index)].shape;
  }

  std::vector<const Matrix<Scalar>*> InputsOf(const BuiltNode<Scalar>& node) const {
    std::vector<const Matrix<Scalar>*> inputs;
    for (const std::int64_t index : node.inputs) inputs.push_back(&OutputOf(index));
    return inputs;
  }

  Status AddNode(const network::Node& node) {
    BuiltNode<Scalar> built;
    built.name = node.name;
    built.shape = node.output_shape;
    LayerSource source{&node, {}, batch_};
    for (const std::string& name : node.inputs) {
      const auto input = IndexOf(name);
      if (!input) {
        return Error(ErrorCode::kInput, "node '" + node.name + "' takes '" + name +
                                            "', which no earlier node is called");
      }
      built.inputs.push_back(*input);
      built.trains =
          built.trains || (*input >= 0 && nodes_[static_cast<std::size_t>(*input)].trains);
      source.input_shapes.push_back(ShapeOf(*input));
    }
    DLBENCH_ASSIGN_OR_RETURN(built.layer, MakeLayer<Scalar>(source, sums_));
    built.trains = built.trains || !built.layer->Parameters().empty();
    built.output = MatrixFor<Scalar>(node.output_shape, batch_);
    nodes_.push_back(std::move(built));
    return {};
  }

  std::vector<ParameterTensor<Scalar>*> Tensors() const {
    std::vector<ParameterTensor<Scalar>*> tensors;
    for (const auto& node : nodes_) {
      for (auto* tensor : node.layer->Parameters()) tensors.push_back(tensor);
    }
    return tensors;
  }

  std::vector<BufferTensor<Scalar>*> Buffers() const {
    std::vector<BufferTensor<Scalar>*> buffers;
    for (const auto& node : nodes_) {
      for (auto* buffer : node.layer->Buffers()) buffers.push_back(buffer);
    }
    return buffers;
  }

  static void Assign(const std::vector<double>& from, Matrix<Scalar>& to, const std::string& name) {
    if (from.size() != to.values.size()) {
      throw std::invalid_argument("reference state: '" + name + "' has " +
                                  std::to_string(from.size()) + " values, not " +
                                  std::to_string(to.values.size()));
    }
    std::transform(from.begin(), from.end(), to.values.begin(),
                   [](double value) { return static_cast<Scalar>(value); });
  }

  void CheckBatch(std::span<const float> x, std::span<const std::int32_t> labels) const {
    if (x.size() != input_.values.size() ||
        labels.size() != static_cast<std::size_t>(nodes_[logits_].output.rows)) {
      throw std::invalid_argument("reference batch of another size than the engine's");
    }
    for (const std::int32_t label : labels) {
      if (label < 0 || label >= nodes_[logits_].output.columns) {
        throw std::invalid_argument("reference label " + std::to_string(label) + " is no class");
      }
    }
  }

  StepResult RunForward(std::span<const float> x, std::span<const std::int32_t> labels,
                        bool keep_activations, Matrix<Scalar>* logits_gradient) {
    CheckBatch(x, labels);
    std::copy(x.begin(), x.end(), input_.values.begin());
    StepResult result;
    for (auto& node : nodes_) {
      node.layer->Forward(InputsOf(node), node.output);
      if (keep_activations) result.activations[node.name] = ToDouble(node.output);
    }
    const auto& logits = nodes_[logits_].output;
    result.loss = static_cast<double>(loss_.Loss(logits, labels, logits_gradient));
    result.logits = ToDouble(logits);
    return result;
  }

  // From the loss back to the data: dL/d(output) of every node, and from it that of its parameters.
  // An output that several nodes use gets the sum of their gradients.
  void RunBackward() {
    for (auto& node : nodes_) node.reached = false;
    nodes_[logits_].reached = true;
    nodes_[logits_].gradient = std::move(logits_gradient_);
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (!node->reached) {
        ZeroGradients(*node->layer);
        continue;
      }
      BackwardThrough(*node);
      // What follows needs it no more; large networks have room for a few at a time only.
      if (&*node == &nodes_[logits_]) logits_gradient_ = std::move(node->gradient);
      node->gradient = Matrix<Scalar>();
    }
  }

  void BackwardThrough(BuiltNode<Scalar>& node) {
    std::vector<Matrix<Scalar>> further(node.inputs.size());
    std::vector<Matrix<Scalar>*> targets;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      targets.push_back(nullptr);
      // Nobody needs the gradient of the data, nor of what is computed from them without
      // parameters.
      if (node.inputs[i] < 0) continue;
      BuiltNode<Scalar>& source = nodes_[static_cast<std::size_t>(node.inputs[i])];
      if (!source.trains) continue;
      Matrix<Scalar>& target = source.reached ? further[i] : source.gradient;
      target = Matrix<Scalar>(source.output.rows, source.output.columns);
      targets.back() = &target;
      source.reached = true;
    }
    node.layer->Backward(InputsOf(node), node.output, node.gradient, targets);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (targets[i] != &further[i]) continue;
      auto& values = nodes_[static_cast<std::size_t>(node.inputs[i])].gradient.values;
      std::transform(values.begin(), values.end(), further[i].values.begin(), values.begin(),
                     std::plus<>());
    }
  }

  static void ZeroGradients(Layer<Scalar>& layer) {
    for (auto* tensor : layer.Parameters()) {
      std::fill(tensor->gradient.values.begin(), tensor->gradient.values.end(), Scalar{0});
    }
  }

  const network::Optimizer optimizer_;
  Sums<Scalar> sums_;
  SoftmaxCrossEntropy<Scalar> loss_;
  const std::int64_t batch_;
  const network::Shape input_shape_;
  Matrix<Scalar> input_;
  Matrix<Scalar> logits_gradient_;
  std::vector<BuiltNode<Scalar>> nodes_;
  std::size_t logits_ = 0;
};

Status CheckKinds(const network::Network& network, std::int64_t batch, Arithmetic arithmetic) {
  const auto& loss = network.loss;
  if (loss.kind != "softmax_cross_entropy" ||
      (loss.reduction != "mean" && loss.reduction != "sum")) {
    return Error(ErrorCode::kUnsupported, "the reference has no loss '" + loss.kind +
                                              "' with reduction '" + loss.reduction + "'");
  }
  if (network.optimizer.kind != "sgd") {
    return Error(ErrorCode::kUnsupported,
                 "the reference has no optimizer '" + network.optimizer.kind + "'");
  }
  if (batch < 1 || arithmetic.summation_order < 0) {
    return Error(ErrorCode::kInput, "the batch must be at least 1, the summation order at least 0");
  }
  return {};
}

template <class Scalar>
Result<std::unique_ptr<Engine>> Build(const network::Network& network, std::int64_t batch,
                                      Arithmetic arithmetic) {
  auto engine = std::make_unique<TypedEngine<Scalar>>(network, batch, arithmetic);
  DLBENCH_RETURN_IF_ERROR(engine->Build(network));
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Create(const network::Network& network, std::int64_t batch,
                                               Arithmetic arithmetic) {
  DLBENCH_RETURN_IF_ERROR(CheckKinds(network, batch, arithmetic));
  if (arithmetic.precision == Precision::kFloat64) return Build<double>(network, batch, arithmetic);
  return Build<float>(network, batch, arithmetic);
}

State StateFrom(const std::map<std::string, std::vector<float>>& weights) {
  State state;
  for (const auto& [name, values] : weights) {
    state.weights[name] = {values.begin(), values.end()};
    state.velocity[name].assign(values.size(), 0.0);
  }
  return state;
}

}  // namespace dlbench::reference
