#include "verify/situations.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dlbench::verify {
namespace {

using network::Network;
using network::Node;
using network::Parameter;

bool IsBias(const Parameter& parameter) { return parameter.shape.size() == 1; }

/// The scale of a normalisation: a vector that multiplies.
bool IsScale(const Parameter& parameter) {
  return IsBias(parameter) && parameter.name.ends_with(".weight");
}

bool IsSquare(const Parameter& parameter) {
  return parameter.shape.size() == 2 && parameter.shape[0] == parameter.shape[1];
}

/// `right` with weights that `change` has changed.
Situation WithWeights(const Situation& right, const std::function<void(Tensors&)>& change) {
  Situation wrong = right;
  auto weights = std::make_shared<Tensors>(*right.weights);
  change(*weights);
  wrong.weights = std::move(weights);
  return wrong;
}

/// `right` with a network that `change` has changed.
Situation WithNetwork(const Situation& right, const std::function<void(Network&)>& change) {
  Situation wrong = right;
  auto network = std::make_shared<Network>(*right.network);
  change(*network);
  wrong.network = std::move(network);
  return wrong;
}

void Zero(std::vector<double>& values) { std::fill(values.begin(), values.end(), 0.0); }

void TransposeSquare(std::vector<double>& values, std::int64_t side) {
  for (std::int64_t i = 0; i < side; ++i) {
    for (std::int64_t j = i + 1; j < side; ++j) {
      std::swap(values[static_cast<std::size_t>(i * side + j)],
                values[static_cast<std::size_t>(j * side + i)]);
    }
  }
}

void AddParameterFaults(const Network& network, std::vector<ForwardFault>& faults) {
  for (const Parameter* parameter : network.Parameters()) {
    const std::string name = parameter->name;
    if (IsScale(*parameter)) {
      faults.push_back({"scale_missing:" + name, "the scale '" + name + "' is missing",
                        [name](const Situation& right) {
                          return std::optional(WithWeights(right, [&](Tensors& weights) {
                            std::vector<double>& scale = weights.at(name);
                            std::fill(scale.begin(), scale.end(), 1.0);
                          }));
                        }});
    } else if (IsBias(*parameter)) {
      faults.push_back({"bias_missing:" + name, "the bias '" + name + "' is missing",
                        [name](const Situation& right) {
                          return std::optional(WithWeights(
                              right, [&](Tensors& weights) { Zero(weights.at(name)); }));
                        }});
    } else if (IsSquare(*parameter)) {
      const std::int64_t side = parameter->shape[0];
      faults.push_back({"transposed:" + name, "the weight '" + name + "' is transposed",
                        [name, side](const Situation& right) {
                          return std::optional(WithWeights(right, [&](Tensors& weights) {
                            TransposeSquare(weights.at(name), side);
                          }));
                        }});
    }
  }
  faults.push_back({"biases_missing", "all biases are missing", [](const Situation& right) {
                      return std::optional(WithWeights(right, [&](Tensors& weights) {
                        for (const Parameter* parameter : right.network->Parameters()) {
                          if (IsBias(*parameter) && !IsScale(*parameter))
                            Zero(weights.at(parameter->name));
                        }
                      }));
                    }});
}

void AddActivationFaults(const Network& network, std::vector<ForwardFault>& faults) {
  static const std::vector<std::string> activations{"sigmoid", "tanh", "relu"};
  for (const std::string& from : activations) {
    const bool used = std::any_of(network.nodes.begin(), network.nodes.end(),
                                  [&](const Node& node) { return node.op == from; });
    if (!used) continue;
    for (const std::string& to : activations) {
      if (to == from) continue;
      faults.push_back({"activation:" + from + "->" + to, "every " + from + " is computed as " + to,
                        [from, to](const Situation& right) {
                          return std::optional(WithNetwork(right, [&](Network& changed) {
                            for (Node& node : changed.nodes) {
                              if (node.op == from) node.op = to;
                            }
                          }));
                        }});
    }
  }
}

void AddInputFaults(const Network& network, std::vector<ForwardFault>& faults) {
  const auto map_inputs = [&](const char* name, const char* cause,
                              const std::function<float(float)>& change) {
    faults.push_back({name, cause, [change](const Situation& right) {
                        Situation wrong = right;
                        for (float& value : wrong.x) value = change(value);
                        return std::optional(std::move(wrong));
                      }});
  };
  const auto scale = static_cast<float>(network.input.scale);
  const auto offset = static_cast<float>(network.input.offset);
  if (scale != 1.0F || offset != 0.0F) {
    map_inputs("input_unscaled", "the input is not scaled",
               [scale, offset](float value) { return value / scale + offset; });
    map_inputs("input_scaled_twice", "the input is scaled twice",
               [scale, offset](float value) { return scale * (value - offset); });
  }
  const auto elements = static_cast<std::ptrdiff_t>(network::ElementCount(network.input.shape));
  faults.push_back(
      {"input_reversed", "every input sample is reversed", [elements](const Situation& right) {
         Situation wrong = right;
         for (auto at = wrong.x.begin(); at != wrong.x.end(); at += elements) {
           std::reverse(at, at + elements);
         }
         return std::optional(std::move(wrong));
       }});
}

void AddBatchFaults(std::span<const float> previous_x,
                    std::span<const std::int32_t> previous_labels,
                    std::vector<ForwardFault>& faults) {
  faults.push_back({"stale_batch", "another batch of the pool is used",
                    [previous_x, previous_labels](const Situation& right) {
                      Situation wrong = right;
                      const std::size_t labels = right.labels.size();
                      const std::size_t values = right.x.size();
                      if (previous_x.size() < values) return std::optional<Situation>();
                      wrong.x.assign(previous_x.begin(),
                                     previous_x.begin() + static_cast<std::ptrdiff_t>(values));
                      wrong.labels.assign(
                          previous_labels.begin(),
                          previous_labels.begin() + static_cast<std::ptrdiff_t>(labels));
                      return std::optional(std::move(wrong));
                    }});
  faults.push_back(
      {"half_batch", "only the first half of the batch is used", [](const Situation& right) {
         const std::size_t samples = right.samples();
         if (samples < 2) return std::optional<Situation>();
         Situation wrong = right;
         wrong.x.resize(right.x.size() / samples * (samples / 2));
         wrong.labels.resize(right.labels.size() / samples * (samples / 2));
         for (auto& [node, mask] : wrong.masks) mask.resize(mask.size() / samples * (samples / 2));
         return std::optional(std::move(wrong));
       }});
  faults.push_back(
      {"labels_shifted", "the labels are shifted by one class", [](const Situation& right) {
         Situation wrong = right;
         for (std::int32_t& label : wrong.labels) {
           label = (label + 1) % static_cast<std::int32_t>(right.network->classes);
         }
         return std::optional(std::move(wrong));
       }});
  faults.push_back({"labels_rotated", "the labels belong to the neighbouring samples",
                    [](const Situation& right) {
                      Situation wrong = right;
                      std::rotate(wrong.labels.begin(), wrong.labels.begin() + 1,
                                  wrong.labels.end());
                      return std::optional(std::move(wrong));
                    }});
}

/// Mean cross-entropy of softmax(values) at the labels.
double CrossEntropy(const std::vector<double>& values, std::span<const std::int32_t> labels,
                    std::size_t classes) {
  double total = 0.0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const double* z = values.data() + row * classes;
    const double top = *std::max_element(z, z + classes);
    double sum = 0.0;
    for (std::size_t j = 0; j < classes; ++j) sum += std::exp(z[j] - top);
    total += std::log(sum) + top - z[static_cast<std::size_t>(labels[row])];
  }
  return total / static_cast<double>(labels.size());
}

std::vector<double> Softmax(std::vector<double> values, std::size_t classes) {
  for (std::size_t begin = 0; begin < values.size(); begin += classes) {
    double* z = values.data() + begin;
    const double top = *std::max_element(z, z + classes);
    double sum = 0.0;
    for (std::size_t j = 0; j < classes; ++j) sum += z[j] = std::exp(z[j] - top);
    for (std::size_t j = 0; j < classes; ++j) z[j] /= sum;
  }
  return values;
}

}  // namespace

std::vector<ForwardFault> KnownForwardFaults(const Network& network,
                                             std::span<const float> previous_x,
                                             std::span<const std::int32_t> previous_labels) {
  std::vector<ForwardFault> faults;
  AddParameterFaults(network, faults);
  AddActivationFaults(network, faults);
  AddInputFaults(network, faults);
  AddBatchFaults(previous_x, previous_labels, faults);
  faults.push_back({"loss_reduction",
                    network.loss.reduction == "mean"
                        ? "the loss is summed over the batch, not averaged"
                        : "the loss is averaged over the batch, not summed",
                    [](const Situation& right) {
                      return std::optional(WithNetwork(right, [](Network& changed) {
                        changed.loss.reduction = changed.loss.reduction == "mean" ? "sum" : "mean";
                      }));
                    }});
  return faults;
}

Result<reference::StepResult> Evaluator::Evaluate(const Situation& situation,
                                                  reference::Arithmetic arithmetic) {
  const bool fits = engine_ && network_ == situation.network && samples_ == situation.samples() &&
                    arithmetic_ == arithmetic;
  if (!fits) {
    engine_.reset();  // Two at a time would take twice the memory.
    DLBENCH_ASSIGN_OR_RETURN(
        engine_,
        reference::Engine::Create(*situation.network,
                                  static_cast<std::int64_t>(situation.samples()), arithmetic));
    network_ = situation.network;
    samples_ = situation.samples();
    arithmetic_ = arithmetic;
  }
  if (!fits || weights_ != situation.weights) engine_->SetWeights(*situation.weights);
  weights_ = situation.weights;
  reference::Masks masks;
  for (const auto& [node, mask] : situation.masks) masks[node] = mask;
  engine_->SetMasks(masks);
  return engine_->Differentiate(situation.x, situation.labels);
}

std::vector<LossFault> KnownLossFaults() {
  using Labels = std::span<const std::int32_t>;
  return {
      {"softmax_twice", "softmax is applied twice",
       [](const std::vector<double>& logits, Labels labels, std::int64_t classes, double right) {
         const auto width = static_cast<std::size_t>(classes);
         const double once = CrossEntropy(logits, labels, width);
         return right / once * CrossEntropy(Softmax(logits, width), labels, width);
       }},
      {"loss_times_batch", "the loss is summed over the batch, not averaged",
       [](const std::vector<double>&, Labels labels, std::int64_t, double right) {
         return right * static_cast<double>(labels.size());
       }},
      {"loss_over_batch", "the loss is divided by the batch size once too often",
       [](const std::vector<double>&, Labels labels, std::int64_t, double right) {
         return right / static_cast<double>(labels.size());
       }},
      {"loss_over_classes", "the loss is also divided by the number of classes",
       [](const std::vector<double>&, Labels, std::int64_t classes, double right) {
         return right / static_cast<double>(classes);
       }},
      {"loss_base_two", "the loss is in bits (logarithm to base 2)",
       [](const std::vector<double>&, Labels, std::int64_t, double right) {
         return right / std::log(2.0);
       }},
      {"loss_doubled", "the loss is twice what it should be",
       [](const std::vector<double>&, Labels, std::int64_t, double right) { return 2.0 * right; }},
      {"loss_halved", "the loss is half of what it should be",
       [](const std::vector<double>&, Labels, std::int64_t, double right) { return 0.5 * right; }},
  };
}

}  // namespace dlbench::verify
