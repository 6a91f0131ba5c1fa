#include "naive_network.h"

#include <algorithm>
#include <cmath>

namespace dlbench::onednn {
namespace {

double Apply(Activation activation, double x) {
  if (activation == Activation::kSigmoid) return 1.0 / (1.0 + std::exp(-x));
  if (activation == Activation::kTanh) return std::tanh(x);
  return std::max(x, 0.0);
}

double DerivativeFromResult(Activation activation, double y) {
  if (activation == Activation::kSigmoid) return y * (1.0 - y);
  if (activation == Activation::kTanh) return 1.0 - y * y;
  return y > 0.0 ? 1.0 : 0.0;
}

std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

std::vector<float> RandomNumbers(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    number = static_cast<float>(generator() % 65536U) / 32768.0F - 1.0F;
  }
  return numbers;
}

std::vector<std::int32_t> RandomLabels(std::size_t count, std::int64_t classes, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::int32_t> labels(count);
  for (std::int32_t& label : labels) {
    label = static_cast<std::int32_t>(generator() % static_cast<unsigned>(classes));
  }
  return labels;
}

double RelativeError(const std::vector<float>& got, const std::vector<double>& expected) {
  double largest = 1e-30;
  double difference = got.size() == expected.size() ? 0.0 : INFINITY;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(static_cast<double>(got[i]) - expected[i]));
  }
  return difference / largest;
}

NetworkSpec Chain(std::int64_t input, const std::vector<std::int64_t>& widths,
                  Activation activation) {
  NetworkSpec spec;
  spec.input_width = input;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) {
      spec.layers.push_back({});
      spec.layers.back().name = "act" + std::to_string(i);
      spec.layers.back().activation = activation;
    }
    spec.layers.push_back({});
    spec.layers.back().name = "fc" + std::to_string(i + 1);
    spec.layers.back().units = widths[i];
  }
  return spec;
}

adapter::Network ToNetwork(const NetworkSpec& spec) {
  adapter::Network network;
  network.input_shape = {spec.input_width};
  std::int64_t width = spec.input_width;
  std::string previous = "input";
  for (const LayerSpec& layer : spec.layers) {
    adapter::Node node;
    node.name = layer.name;
    node.inputs = {previous};
    if (layer.activation == Activation::kNone) {
      node.op = "dense";
      node.attributes.Set("units", layer.units).Set("bias", layer.has_bias);
      node.parameters.push_back({layer.name + ".weight",
                                 {layer.units, width},
                                 layer.weight_decays,
                                 nullptr,
                                 Size(layer.units * width)});
      if (layer.has_bias) {
        node.parameters.push_back(
            {layer.name + ".bias", {layer.units}, layer.bias_decays, nullptr, Size(layer.units)});
      }
      width = layer.units;
    } else {
      node.op = layer.activation == Activation::kSigmoid ? "sigmoid"
                : layer.activation == Activation::kTanh  ? "tanh"
                                                         : "relu";
    }
    node.output_shape = {width};
    previous = layer.name;
    network.nodes.push_back(std::move(node));
  }
  network.classes = width;
  network.loss = {"softmax_cross_entropy", spec.mean_loss ? "mean" : "sum", previous};
  network.optimizer = {"sgd", 0.1, static_cast<double>(spec.sgd.momentum),
                       static_cast<double>(spec.sgd.weight_decay), spec.sgd.nesterov};
  return network;
}

NaiveNetwork::NaiveNetwork(NetworkSpec spec, std::int64_t batch, unsigned seed)
    : spec_(std::move(spec)), batch_(batch) {
  std::int64_t width = spec_.input_width;
  const auto add = [&](std::int64_t count, bool decays) {
    std::vector<float> numbers = RandomNumbers(Size(count), seed++);
    for (float& number : numbers) number /= std::sqrt(static_cast<float>(width));
    values.emplace_back(numbers.begin(), numbers.end());
    start_.push_back(std::move(numbers));
    decays_.push_back(decays);
  };
  for (const LayerSpec& layer : spec_.layers) {
    if (layer.activation != Activation::kNone) continue;
    add(layer.units * width, layer.weight_decays);
    if (layer.has_bias) add(layer.units, layer.bias_decays);
    width = layer.units;
  }
  gradients = values;
  velocities = values;
  for (auto& velocity : velocities) std::fill(velocity.begin(), velocity.end(), 0.0);
}

NaiveNetwork::Matrix NaiveNetwork::Forward(const Matrix& input, std::size_t layer,
                                           std::size_t& parameter) const {
  const LayerSpec& spec = spec_.layers[layer];
  Matrix output = input;
  if (spec.activation != Activation::kNone) {
    for (double& value : output) value = Apply(spec.activation, value);
    return output;
  }
  const std::size_t rows = Size(batch_), outs = Size(spec.units), ins = input.size() / rows;
  const Matrix& weight = values[parameter++];
  output.assign(rows * outs, 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t o = 0; o < outs; ++o) {
      double sum = spec.has_bias ? values[parameter][o] : 0.0;
      for (std::size_t i = 0; i < ins; ++i) sum += input[row * ins + i] * weight[o * ins + i];
      output[row * outs + o] = sum;
    }
  }
  if (spec.has_bias) ++parameter;
  return output;
}

double NaiveNetwork::Loss(const std::vector<std::int32_t>& labels, Matrix& gradient) const {
  const std::size_t rows = Size(batch_), classes = logits.size() / rows;
  const double scale = spec_.mean_loss ? 1.0 / static_cast<double>(batch_) : 1.0;
  gradient = logits;
  double loss = 0.0;
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(logits[row * classes + i]);
    const std::size_t label = Size(labels[row]);
    loss += (std::log(sum) - logits[row * classes + label]) * scale;
    for (std::size_t i = 0; i < classes; ++i) {
      const double share = std::exp(logits[row * classes + i]) / sum;
      gradient[row * classes + i] = (share - (i == label ? 1.0 : 0.0)) * scale;
    }
  }
  return loss;
}

double NaiveNetwork::Step(const std::vector<float>& x, const std::vector<std::int32_t>& labels,
                          double rate) {
  std::vector<Matrix> results = {Matrix(x.begin(), x.end())};
  std::size_t parameter = 0;
  for (std::size_t layer = 0; layer < spec_.layers.size(); ++layer) {
    results.push_back(Forward(results.back(), layer, parameter));
  }
  logits = results.back();
  Matrix dy;
  const double loss = Loss(labels, dy);
  const std::size_t rows = Size(batch_);
  for (std::size_t layer = spec_.layers.size(); layer-- > 0;) {
    const LayerSpec& spec = spec_.layers[layer];
    const Matrix& input = results[layer];
    if (spec.activation != Activation::kNone) {
      const Matrix& y = results[layer + 1];
      for (std::size_t i = 0; i < dy.size(); ++i) {
        dy[i] *= DerivativeFromResult(spec.activation, y[i]);
      }
      continue;
    }
    const std::size_t outs = Size(spec.units), ins = input.size() / rows;
    Matrix* bias = spec.has_bias ? &gradients[--parameter] : nullptr;
    Matrix& weight = gradients[--parameter];
    if (bias != nullptr) std::fill(bias->begin(), bias->end(), 0.0);
    std::fill(weight.begin(), weight.end(), 0.0);
    Matrix dx(rows * ins, 0.0);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t o = 0; o < outs; ++o) {
        const double g = dy[row * outs + o];
        if (bias != nullptr) (*bias)[o] += g;
        for (std::size_t i = 0; i < ins; ++i) {
          weight[o * ins + i] += g * input[row * ins + i];
          dx[row * ins + i] += g * values[parameter][o * ins + i];
        }
      }
    }
    dy = std::move(dx);
  }
  Update(rate);
  return loss;
}

void NaiveNetwork::Update(double rate) {
  const auto momentum = static_cast<double>(spec_.sgd.momentum);
  for (std::size_t p = 0; p < values.size(); ++p) {
    const double decay = decays_[p] ? static_cast<double>(spec_.sgd.weight_decay) : 0.0;
    for (std::size_t i = 0; i < values[p].size(); ++i) {
      const double g = gradients[p][i] + decay * values[p][i];
      double& v = velocities[p][i];
      v = momentum * v + g;
      values[p][i] -= rate * (spec_.sgd.nesterov ? g + momentum * v : v);
    }
  }
}

}  // namespace dlbench::onednn
