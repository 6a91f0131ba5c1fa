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

bool IsSquare(const Parameter& parameter) {
  return parameter.shape.size() == 2 && parameter.shape[0] == parameter.shape[1];
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
    if (IsBias(*parameter)) {
      faults.push_back({"bias_missing:" + name, "the bias '" + name + "' is missing",
                        [name](const Situation& right) {
                          Situation wrong = right;
                          Zero(wrong.state.weights.at(name));
                          return std::optional(wrong);
                        }});
    } else if (IsSquare(*parameter)) {
      const std::int64_t side = parameter->shape[0];
      faults.push_back({"transposed:" + name, "the weight '" + name + "' is transposed",
                        [name, side](const Situation& right) {
                          Situation wrong = right;
                          TransposeSquare(wrong.state.weights.at(name), side);
                          return std::optional(wrong);
                        }});
    }
  }
  faults.push_back({"biases_missing", "all biases are missing", [](const Situation& right) {
                      Situation wrong = right;
                      for (const Parameter* parameter : wrong.network.Parameters()) {
                        if (IsBias(*parameter)) Zero(wrong.state.weights.at(parameter->name));
                      }
                      return std::optional(wrong);
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
                          Situation wrong = right;
                          for (Node& node : wrong.network.nodes) {
                            if (node.op == from) node.op = to;
                          }
                          return std::optional(wrong);
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
                        return std::optional(wrong);
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
         return std::optional(wrong);
       }});
}

void AddBatchFaults(std::span<const float> previous_x,
                    std::span<const std::int32_t> previous_labels,
                    std::vector<ForwardFault>& faults) {
  faults.push_back({"stale_batch", "another batch of the pool is used",
                    [previous_x, previous_labels](const Situation& right) {
                      Situation wrong = right;
                      const std::size_t samples = right.labels.size();
                      const std::size_t values = right.x.size();
                      if (previous_x.size() < values) return std::optional<Situation>();
                      wrong.x.assign(previous_x.begin(),
                                     previous_x.begin() + static_cast<std::ptrdiff_t>(values));
                      wrong.labels.assign(
                          previous_labels.begin(),
                          previous_labels.begin() + static_cast<std::ptrdiff_t>(samples));
                      return std::optional(wrong);
                    }});
  faults.push_back(
      {"half_batch", "only the first half of the batch is used", [](const Situation& right) {
         if (right.labels.size() < 2) return std::optional<Situation>();
         Situation wrong = right;
         wrong.x.resize(right.x.size() / right.labels.size() * (right.labels.size() / 2));
         wrong.labels.resize(right.labels.size() / 2);
         return std::optional(wrong);
       }});
  faults.push_back(
      {"labels_shifted", "the labels are shifted by one class", [](const Situation& right) {
         Situation wrong = right;
         for (std::int32_t& label : wrong.labels) {
           label = (label + 1) % static_cast<std::int32_t>(right.network.classes);
         }
         return std::optional(wrong);
       }});
  faults.push_back({"labels_rotated", "the labels belong to the neighbouring samples",
                    [](const Situation& right) {
                      Situation wrong = right;
                      std::rotate(wrong.labels.begin(), wrong.labels.begin() + 1,
                                  wrong.labels.end());
                      return std::optional(wrong);
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
  faults.push_back(
      {"loss_reduction",
       network.loss.reduction == "mean" ? "the loss is summed over the batch, not averaged"
                                        : "the loss is averaged over the batch, not summed",
       [](const Situation& right) {
         Situation wrong = right;
         wrong.network.loss.reduction = right.network.loss.reduction == "mean" ? "sum" : "mean";
         return std::optional(wrong);
       }});
  return faults;
}

Result<reference::StepResult> Evaluate(const Situation& situation,
                                       reference::Arithmetic arithmetic) {
  DLBENCH_ASSIGN_OR_RETURN(
      auto engine,
      reference::Engine::Create(situation.network,
                                static_cast<std::int64_t>(situation.labels.size()), arithmetic));
  engine->SetState(situation.state);
  return engine->Step(situation.x, situation.labels, 0.0);
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
