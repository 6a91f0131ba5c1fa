#include "plain_adapter.h"

#include <algorithm>
#include <cmath>

namespace dlbench::decoys {
namespace {

/// out = a * b, with rounded operands where `rounding` is given.
template <class A, class B, class Out>
void Multiply(const A& a, const B& b, float (*rounding)(float), Out&& out) {
  if (rounding == nullptr) {
    out.noalias() = a * b;
  } else {
    const Matrix rounded_a = a.unaryExpr(rounding);
    const Matrix rounded_b = b.unaryExpr(rounding);
    out.noalias() = rounded_a * rounded_b;
  }
}

}  // namespace

sdk::Description PlainAdapter::Describe() {
  sdk::Description description;
  description.framework = "plain";
  description.framework_version = "1.0";
  description.mode_label = {{"default", "plain"}};
  description.ops = {"dense", "sigmoid", "tanh", "relu"};
  return description;
}

sdk::Prepared PlainAdapter::Prepare(const sdk::Spec& spec) {
  spec_ = &spec;
  threads_ = std::make_unique<WorkerThreads>(spec.threads);
  std::string previous = "input";
  layers_.reserve(spec.network.nodes.size());
  for (const sdk::Node& node : spec.network.nodes) {
    BuildLayer(node, previous);
    previous = node.name;
  }
  if (layers_.empty() || spec.network.loss.input != previous) {
    throw sdk::Unsupported("the loss must take the last node's output");
  }
  row_losses_.resize(static_cast<std::size_t>(spec.batch));
  LoadBatches();
  Reset();
  return {spec.batch, "float32", threads_->count(), {{"threads", std::to_string(spec.threads)}}};
}

void PlainAdapter::BuildLayer(const sdk::Node& node, const std::string& expected_input) {
  if (node.inputs != std::vector<std::string>{expected_input}) {
    throw sdk::Unsupported("node " + node.name + " does not take the node before it");
  }
  Layer layer;
  layer.op = node.op == "dense"     ? Op::kDense
             : node.op == "sigmoid" ? Op::kSigmoid
             : node.op == "tanh"    ? Op::kTanh
                                    : Op::kRelu;
  for (const sdk::Parameter& parameter : node.parameters) {
    auto tensor = std::make_unique<Tensor>();
    tensor->parameter = &parameter;
    const Eigen::Index rows = parameter.shape[0];
    tensor->value.resize(rows, static_cast<Eigen::Index>(parameter.count) / rows);
    tensor->gradient = tensor->velocity = Matrix::Zero(rows, tensor->value.cols());
    (parameter.shape.size() == 2 ? layer.weight : layer.bias) = tensor.get();
    tensors_.push_back(std::move(tensor));
  }
  layer.output.setZero(spec_->batch, sdk::ElementCount(node.output_shape));
  layer.delta = layer.output;
  layers_.push_back(std::move(layer));
}

void PlainAdapter::LoadBatches() {
  const std::int64_t samples = spec_->pool * spec_->batch;
  x_.assign(spec_->x, spec_->x + samples * spec_->sample_size);
  labels_.assign(spec_->labels, spec_->labels + samples);
}

void PlainAdapter::Reset() {
  for (const auto& tensor : tensors_) {
    std::copy_n(tensor->parameter->initial, tensor->parameter->count, tensor->value.data());
    tensor->velocity.setZero();
  }
}

void PlainAdapter::Step(std::int64_t batch, double learning_rate) {
  Forward(batch);
  Backward(batch);
  FinishGradients();
  UpdateAll(learning_rate);
}

Eigen::Map<const Matrix> PlainAdapter::Input(std::int64_t batch) const {
  const std::int64_t size = spec_->batch * spec_->sample_size;
  return {x_.data() + batch * size, spec_->batch, spec_->sample_size};
}

std::pair<Eigen::Index, Eigen::Index> PlainAdapter::Share(Eigen::Index count, int index) const {
  const Eigen::Index begin = count * index / threads_->count();
  return {begin, count * (index + 1) / threads_->count() - begin};
}

void PlainAdapter::Forward(std::int64_t batch) {
  const Eigen::Map<const Matrix> input = Input(batch);
  threads_->Run([&](int thread) {
    const auto [begin, count] = Share(spec_->batch, thread);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Rows output = layers_[i].output.middleRows(begin, count);
      if (layers_[i].op != Op::kDense) {
        output = i == 0 ? Matrix(input.middleRows(begin, count))
                        : Matrix(layers_[i - 1].output.middleRows(begin, count));
        Activate(layers_[i].op, output);
      } else if (i == 0) {
        DenseForward(layers_[i], input.middleRows(begin, count), output);
      } else {
        DenseForward(layers_[i], layers_[i - 1].output.middleRows(begin, count), output);
      }
    }
    LossGradient(batch, begin, layers_.back().output.middleRows(begin, count),
                 layers_.back().delta.middleRows(begin, count));
  });
  loss_ = ReducedLoss();
}

void PlainAdapter::DenseForward(const Layer& layer, const Eigen::Ref<const Matrix>& input,
                                Rows output) {
  Multiply(input, layer.weight->value.transpose(), operand_rounding_, output);
  if (layer.bias != nullptr) output.rowwise() += layer.bias->value.col(0).transpose();
}

void PlainAdapter::Activate(Op op, Rows values) {
  if (op == Op::kSigmoid) values = (1.0F + (-values.array()).exp()).inverse();
  if (op == Op::kTanh) values = values.array().tanh();
  if (op == Op::kRelu) values = values.cwiseMax(0.0F);
}

void PlainAdapter::LossGradient(std::int64_t batch, Eigen::Index first, Rows logits, Rows delta) {
  const bool mean = spec_->network.loss.reduction == "mean";
  const float scale = mean ? 1.0F / static_cast<float>(spec_->batch) : 1.0F;
  const std::int32_t* labels = labels_.data() + batch * spec_->batch + first;
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    const float largest = logits.row(row).maxCoeff();
    delta.row(row) = (logits.row(row).array() - largest).exp();
    const float sum = delta.row(row).sum();
    row_losses_[static_cast<std::size_t>(first + row)] =
        std::log(sum) - (logits(row, labels[row]) - largest);
    delta.row(row) *= scale / sum;
    delta(row, labels[row]) -= scale;
  }
}

double PlainAdapter::ReducedLoss() const {
  double sum = 0.0;
  for (const float loss : row_losses_) sum += loss;
  const bool mean = spec_->network.loss.reduction == "mean";
  return mean ? sum / static_cast<double>(row_losses_.size()) : sum;
}

void PlainAdapter::Backward(std::int64_t batch) {
  threads_->Run([&](int thread) {
    const auto [begin, count] = Share(spec_->batch, thread);
    BackwardRows(begin, count);
  });
  const Eigen::Map<const Matrix> input = Input(batch);
  threads_->Run([&](int thread) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].op != Op::kDense) continue;
      if (i == 0) {
        WeightGradients(input, layers_[i], thread);
      } else {
        WeightGradients(layers_[i - 1].output, layers_[i], thread);
      }
    }
  });
}

/// d loss / d output of every layer but the last, from the next layer's; the data has no gradient.
void PlainAdapter::BackwardRows(Eigen::Index begin, Eigen::Index count) {
  for (std::size_t i = layers_.size() - 1; i > 0; --i) {
    Layer& layer = layers_[i];
    const auto delta = layer.delta.middleRows(begin, count);
    const auto output = layer.output.middleRows(begin, count).array();
    auto below = layers_[i - 1].delta.middleRows(begin, count);
    switch (layer.op) {
      case Op::kDense:
        Multiply(delta, layer.weight->value, operand_rounding_, below);
        break;
      case Op::kSigmoid:
        below = delta.array() * output * (1.0F - output);
        break;
      case Op::kTanh:
        below = delta.array() * (1.0F - output.square());
        break;
      case Op::kRelu:
        below = (output > 0.0F).select(delta, 0.0F);
        break;
    }
  }
}

/// d loss / d W = delta^T x and d loss / d b = the sum of delta's rows, for this thread's units.
void PlainAdapter::WeightGradients(const Eigen::Ref<const Matrix>& input, Layer& layer,
                                   int thread) {
  const auto [begin, count] = Share(layer.delta.cols(), thread);
  const auto delta = layer.delta.middleCols(begin, count);
  Multiply(delta.transpose(), input, operand_rounding_,
           layer.weight->gradient.middleRows(begin, count));
  if (layer.bias != nullptr) {
    layer.bias->gradient.middleRows(begin, count) = delta.colwise().sum().transpose();
  }
}

void PlainAdapter::UpdateAll(double learning_rate) {
  threads_->Run([&](int thread) {
    for (const auto& tensor : tensors_) {
      const auto [begin, count] = Share(tensor->value.rows(), thread);
      Update(*tensor, begin, count, static_cast<float>(learning_rate));
    }
  });
}

void PlainAdapter::Update(Tensor& tensor, Eigen::Index begin, Eigen::Index count,
                          float learning_rate) {
  const sdk::Optimizer& optimizer = spec_->network.optimizer;
  const auto momentum = static_cast<float>(optimizer.momentum);
  const auto decay = tensor.parameter->decays ? static_cast<float>(optimizer.weight_decay) : 0.0F;
  auto value = tensor.value.middleRows(begin, count).array();
  auto velocity = tensor.velocity.middleRows(begin, count).array();
  const auto gradient = tensor.gradient.middleRows(begin, count).array() + decay * value;
  velocity = momentum * velocity + gradient;
  if (optimizer.nesterov) {
    value -= learning_rate * (gradient + momentum * velocity);
  } else {
    value -= learning_rate * velocity;
  }
}

PlainAdapter::Tensor& PlainAdapter::Find(const std::string& name) {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& tensor) {
    return tensor->parameter->name == name;
  });
  if (found == tensors_.end()) throw std::runtime_error("there is no tensor " + name);
  return **found;
}

void PlainAdapter::ReadLogits(float* out) {
  const Matrix& logits = layers_.back().output;
  std::copy_n(logits.data(), logits.size(), out);
}

void PlainAdapter::ReadGradient(const sdk::Parameter& parameter, float* out) {
  std::copy_n(Find(parameter.name).gradient.data(), parameter.count, out);
}

void PlainAdapter::ReadWeight(const sdk::Parameter& parameter, float* out) {
  std::copy_n(Find(parameter.name).value.data(), parameter.count, out);
}

void PlainAdapter::ReadVelocity(const sdk::Parameter& parameter, float* out) {
  std::copy_n(Find(parameter.name).velocity.data(), parameter.count, out);
}

}  // namespace dlbench::decoys
