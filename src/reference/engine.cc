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

// A node with the buffers of one batch.
template <class Scalar>
struct BuiltNode {
  std::string name;
  LayerPtr<Scalar> layer;
  std::int64_t input = -1;  // index of the node that feeds it; -1: the data
  bool trains = false;      // whether anything up to here has parameters
  bool reached = false;     // whether the loss depends on it, in the current backward pass
  Matrix<Scalar> output;
  Matrix<Scalar> gradient;
};

template <class Scalar>
class TypedEngine final : public Engine {
 public:
  TypedEngine(const network::Network& network, std::int64_t batch, Arithmetic arithmetic)
      : optimizer_(network.optimizer),
        sums_(arithmetic),
        loss_(network.loss.reduction == "mean" ? SoftmaxCrossEntropy<Scalar>::Reduction::kMean
                                               : SoftmaxCrossEntropy<Scalar>::Reduction::kSum,
              sums_),
        input_(batch, network::ElementCount(network.input.shape)) {}

  Status Build(const network::Network& network) {
    for (const auto& node : network.nodes) DLBENCH_RETURN_IF_ERROR(AddNode(node));
    const auto logits = IndexOf(network.loss.input);
    if (!logits || *logits < 0) {
      return Error(ErrorCode::kInput,
                   "the loss takes '" + network.loss.input + "', which no node is called");
    }
    logits_ = static_cast<std::size_t>(*logits);
    if (nodes_[logits_].output.columns == network.classes) return {};
    return Error(ErrorCode::kInput, "the loss takes '" + network.loss.input + "' with " +
                                        std::to_string(nodes_[logits_].output.columns) +
                                        " values a sample, but there are " +
                                        std::to_string(network.classes) + " classes");
  }

  void SetState(const State& state) override {
    SetWeights(state.weights);
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
  }

  State GetState() const override {
    State state;
    for (const ParameterTensor<Scalar>* tensor : Tensors()) {
      state.weights[tensor->name] = ToDouble(tensor->value);
      state.velocity[tensor->name] = ToDouble(tensor->velocity);
    }
    return state;
  }

  std::map<std::string, std::vector<double>> GetWeights() const override {
    std::map<std::string, std::vector<double>> weights;
    for (const ParameterTensor<Scalar>* tensor : Tensors()) {
      weights[tensor->name] = ToDouble(tensor->value);
    }
    return weights;
  }

  StepResult Step(std::span<const float> x, std::span<const std::int32_t> labels,
                  double learning_rate, bool keep_activations) override {
    StepResult result = RunForward(x, labels, keep_activations, &nodes_[logits_].gradient);
    AddGradients(result);
    Update(learning_rate);
    return result;
  }

  StepResult Differentiate(std::span<const float> x,
                           std::span<const std::int32_t> labels) override {
    StepResult result = RunForward(x, labels, false, &nodes_[logits_].gradient);
    AddGradients(result);
    return result;
  }

  double Advance(std::span<const float> x, std::span<const std::int32_t> labels,
                 double learning_rate) override {
    const double loss = RunForward(x, labels, false, &nodes_[logits_].gradient).loss;
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

  Status AddNode(const network::Node& node) {
    if (node.inputs.size() != 1) {
      return Error(ErrorCode::kUnsupported, "node '" + node.name +
                                                "': the reference has no op with " +
                                                std::to_string(node.inputs.size()) + " inputs");
    }
    const auto input = IndexOf(node.inputs.front());
    if (!input) {
      return Error(ErrorCode::kInput, "node '" + node.name + "' takes '" + node.inputs.front() +
                                          "', which no earlier node is called");
    }
    BuiltNode<Scalar> built;
    built.name = node.name;
    built.input = *input;
    const auto elements = OutputOf(*input).columns;
    DLBENCH_ASSIGN_OR_RETURN(built.layer, MakeLayer<Scalar>(node, elements, sums_));
    built.trains = !built.layer->Parameters().empty() ||
                   (*input >= 0 && nodes_[static_cast<std::size_t>(*input)].trains);
    built.output = Matrix<Scalar>(input_.rows, network::ElementCount(node.output_shape));
    built.gradient = built.output;
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
        labels.size() != static_cast<std::size_t>(input_.rows)) {
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
      node.layer->Forward(OutputOf(node.input), node.output);
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
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (!node->reached) {
        ZeroGradients(*node->layer);
        continue;
      }
      BackwardThrough(*node);
    }
  }

  void BackwardThrough(BuiltNode<Scalar>& node) {
    const auto& x = OutputOf(node.input);
    BuiltNode<Scalar>* source =
        node.input >= 0 ? &nodes_[static_cast<std::size_t>(node.input)] : nullptr;
    // Nobody needs the gradient of the data, nor of what is computed from them without parameters.
    if (source == nullptr || !source->trains) {
      node.layer->Backward(x, node.output, node.gradient, nullptr);
    } else if (!source->reached) {
      node.layer->Backward(x, node.output, node.gradient, &source->gradient);
      source->reached = true;
    } else {
      Matrix<Scalar> further(x.rows, x.columns);
      node.layer->Backward(x, node.output, node.gradient, &further);
      std::transform(further.values.begin(), further.values.end(), source->gradient.values.begin(),
                     source->gradient.values.begin(), std::plus<>());
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
  Matrix<Scalar> input_;
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
