#include "naive_graph.h"

#include <algorithm>
#include <cmath>

#include "naive_network.h"

namespace dlbench::onednn {

using adapter::Node;
using adapter::Shape;
using Values = NaiveGraph::Values;

namespace {

std::size_t At(std::int64_t index) { return static_cast<std::size_t>(index); }

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

std::vector<std::int32_t> Ids(std::int64_t count, std::int64_t end, unsigned seed) {
  return RandomLabels(At(count), end, seed);
}

}  // namespace

NaiveBatch::NaiveBatch(const adapter::Network& network, std::int64_t batch, unsigned seed) {
  const std::int64_t size = batch * adapter::ElementCount(network.input_shape);
  if (network.input_kind == "tokens") {
    tokens = Ids(size, network.vocabulary, seed);
  } else {
    x = RandomNumbers(At(size), seed);
  }
  labels = Ids(batch * adapter::ElementCount(network.LabelShape()), network.classes, seed + 1);
  for (const Node& node : network.nodes) {
    if (node.op != "dropout") continue;
    for (const std::int32_t id :
         Ids(batch * adapter::ElementCount(node.output_shape), 3, seed + 2)) {
      masks[node.name].push_back(id == 0 ? 0 : 1);
    }
  }
}

NaiveGraph::NaiveGraph(adapter::Network network, std::int64_t batch)
    : network_(std::move(network)), batch_(batch) {
  for (const adapter::Buffer* buffer : network_.Buffers()) {
    buffers[buffer->name].assign(buffer->count, static_cast<double>(buffer->initial));
  }
}

const Shape& NaiveGraph::ShapeOf(const std::string& name) const {
  for (const Node& node : network_.nodes) {
    if (node.name == name) return node.output_shape;
  }
  return network_.input_shape;
}

double NaiveGraph::Loss(const NaiveBatch& batch, bool trains) {
  trains_ = trains;
  values_.clear();
  values_["input"].assign(batch.x.begin(), batch.x.end());
  for (const Node& node : network_.nodes) values_[node.name] = Compute(node, batch);
  logits = values_[network_.loss.input];
  const std::size_t classes = At(network_.classes), rows = logits.size() / classes;
  double loss = 0.0;
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(logits[row * classes + i]);
    loss += std::log(sum) - logits[row * classes + At(batch.labels[row])];
  }
  return network_.loss.reduction == "mean" ? loss / static_cast<double>(rows) : loss;
}

double NaiveGraph::Derivative(const NaiveBatch& batch, const std::string& parameter,
                              std::size_t index) {
  constexpr double kStep = 1e-5;
  double& value = parameters.at(parameter)[index];
  const double start = value;
  value = start + kStep;
  const double above = Loss(batch, false);
  value = start - kStep;
  const double below = Loss(batch, false);
  value = start;
  return (above - below) / (2.0 * kStep);
}

Values NaiveGraph::Compute(const Node& node, const NaiveBatch& batch) {
  const Values& x = values_.at(node.inputs[0]);
  Values y = x;
  if (node.op == "conv2d") return Convolution(node, x);
  if (node.op.find("pool") != std::string::npos) return Pool(node, x);
  if (node.op == "lrn") return Lrn(node, x);
  if (node.op == "batch_norm") return BatchNorm(node, x);
  if (node.op == "subsample_pad") return SubsamplePad(node, x);
  if (node.op == "dense") return Dense(node, x);
  if (node.op == "embedding") return Embedding(node, batch);
  if (node.op == "lstm") return Lstm(node, x);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (node.op == "relu") y[i] = std::max(x[i], 0.0);
    if (node.op == "sigmoid") y[i] = Sigmoid(x[i]);
    if (node.op == "tanh") y[i] = std::tanh(x[i]);
    if (node.op == "add") y[i] = x[i] + values_.at(node.inputs[1])[i];
    if (node.op == "dropout") {
      y[i] = x[i] * batch.masks.at(node.name)[i] / (1.0 - node.Real("probability"));
    }
  }
  return y;  // flatten: the same numbers
}

Values NaiveGraph::Convolution(const Node& node, const Values& x) const {
  const Shape& from = ShapeOf(node.inputs[0]);
  const Shape& to = node.output_shape;
  const auto kernel = node.List("kernel"), stride = node.List("stride");
  const auto padding = node.List("padding");
  const std::int64_t groups = node.Integer("groups"), inner = from[0] / groups;
  const Values& weight = parameters.at(node.name + ".weight");
  Values y;
  for (std::int64_t n = 0; n < batch_; ++n) {
    for (std::int64_t o = 0; o < to[0]; ++o) {
      for (std::int64_t h = 0; h < to[1] * to[2]; ++h) {
        const std::int64_t top = h / to[2] * stride[0] - padding[0];
        const std::int64_t left = h % to[2] * stride[1] - padding[1];
        double sum = node.Bool("bias") ? parameters.at(node.name + ".bias")[At(o)] : 0.0;
        for (std::int64_t k = 0; k < inner * kernel[0] * kernel[1]; ++k) {
          const std::int64_t i = k / (kernel[0] * kernel[1]) + o / (to[0] / groups) * inner;
          const std::int64_t row = top + k / kernel[1] % kernel[0];
          const std::int64_t column = left + k % kernel[1];
          if (row < 0 || row >= from[1] || column < 0 || column >= from[2]) continue;
          sum += weight[At(o * inner * kernel[0] * kernel[1] + k)] *
                 x[At(((n * from[0] + i) * from[1] + row) * from[2] + column)];
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

Values NaiveGraph::Pool(const Node& node, const Values& x) const {
  const Shape& from = ShapeOf(node.inputs[0]);
  const Shape& to = node.output_shape;
  const bool global = node.op == "global_avg_pool";
  const Shape kernel = global ? Shape{from[1], from[2]} : node.List("kernel");
  const Shape stride = global ? Shape{1, 1} : node.List("stride");
  const Shape padding = global ? Shape{0, 0, 0, 0} : node.List("padding");
  Values y;
  for (std::int64_t plane = 0; plane < batch_ * from[0]; ++plane) {
    for (std::int64_t h = 0; h < to[1] * to[2]; ++h) {
      const std::int64_t top = h / to[2] * stride[0] - padding[0];
      const std::int64_t left = h % to[2] * stride[1] - padding[1];
      double sum = 0.0, highest = -INFINITY;
      std::int64_t inside = 0;
      for (std::int64_t row = std::max<std::int64_t>(top, 0);
           row < std::min(top + kernel[0], from[1]); ++row) {
        for (std::int64_t column = std::max<std::int64_t>(left, 0);
             column < std::min(left + kernel[1], from[2]); ++column) {
          const double value = x[At((plane * from[1] + row) * from[2] + column)];
          sum += value;
          highest = std::max(highest, value);
          ++inside;
        }
      }
      if (node.op == "avg_pool2d" && node.Bool("count_padding")) {
        inside = (std::min(top + kernel[0], from[1] + padding[2]) - top) *
                 (std::min(left + kernel[1], from[2] + padding[3]) - left);
      }
      y.push_back(node.op == "max_pool2d" ? highest : sum / static_cast<double>(inside));
    }
  }
  return y;
}

Values NaiveGraph::Lrn(const Node& node, const Values& x) const {
  const Shape& shape = node.output_shape;
  const std::int64_t pixels = shape[1] * shape[2], half = node.Integer("size") / 2;
  const double share = node.Real("alpha") / static_cast<double>(node.Integer("size"));
  Values y = x;
  for (std::int64_t n = 0; n < batch_; ++n) {
    for (std::int64_t c = 0; c < shape[0]; ++c) {
      for (std::int64_t p = 0; p < pixels; ++p) {
        double sum = 0.0;
        for (std::int64_t k = std::max<std::int64_t>(c - half, 0);
             k <= std::min(c + half, shape[0] - 1); ++k) {
          sum += std::pow(x[At((n * shape[0] + k) * pixels + p)], 2);
        }
        const std::size_t at = At((n * shape[0] + c) * pixels + p);
        y[at] = x[at] / std::pow(node.Real("k") + share * sum, node.Real("beta"));
      }
    }
  }
  return y;
}

Values NaiveGraph::BatchNorm(const Node& node, const Values& x) {
  const Shape& shape = node.output_shape;
  const std::int64_t channels = shape[0], pixels = adapter::ElementCount(shape) / channels;
  const double count = static_cast<double>(batch_ * pixels), momentum = node.Real("momentum");
  Values y = x;
  for (std::int64_t c = 0; c < channels; ++c) {
    double mean = 0.0, variance = 0.0;
    const auto each = [&](const auto& body) {
      for (std::int64_t i = 0; i < batch_ * pixels; ++i) {
        body(At((i / pixels * channels + c) * pixels + i % pixels));
      }
    };
    each([&](std::size_t at) { mean += x[at] / count; });
    each([&](std::size_t at) { variance += (x[at] - mean) * (x[at] - mean) / count; });
    const double scale = parameters.at(node.name + ".weight")[At(c)];
    const double shift = parameters.at(node.name + ".bias")[At(c)];
    each([&](std::size_t at) {
      y[at] = (x[at] - mean) / std::sqrt(variance + node.Real("epsilon")) * scale + shift;
    });
    if (!trains_) continue;
    if (node.Text("running_variance") == "unbiased") variance *= count / (count - 1.0);
    double& running_mean = buffers.at(node.name + ".running_mean")[At(c)];
    double& running_variance = buffers.at(node.name + ".running_variance")[At(c)];
    running_mean = (1.0 - momentum) * running_mean + momentum * mean;
    running_variance = (1.0 - momentum) * running_variance + momentum * variance;
  }
  return y;
}

Values NaiveGraph::SubsamplePad(const Node& node, const Values& x) const {
  const Shape& from = ShapeOf(node.inputs[0]);
  const Shape& to = node.output_shape;
  const std::int64_t stride = node.Integer("stride"), before = node.Integer("channels_before");
  Values y;
  for (std::int64_t i = 0; i < batch_ * adapter::ElementCount(to); ++i) {
    const std::int64_t column = i % to[2] * stride, row = i / to[2] % to[1] * stride;
    const std::int64_t c = i / (to[2] * to[1]) % to[0] - before;
    const std::int64_t n = i / (to[2] * to[1] * to[0]);
    const bool inside = c >= 0 && c < from[0];
    y.push_back(inside ? x[At(((n * from[0] + c) * from[1] + row) * from[2] + column)] : 0.0);
  }
  return y;
}

Values NaiveGraph::Dense(const Node& node, const Values& x) const {
  const std::size_t units = At(node.Integer("units"));
  const std::size_t inputs = At(ShapeOf(node.inputs[0]).back());
  const Values& weight = parameters.at(node.name + ".weight");
  Values y;
  for (std::size_t row = 0; row < x.size() / inputs; ++row) {
    for (std::size_t o = 0; o < units; ++o) {
      double sum = node.Bool("bias") ? parameters.at(node.name + ".bias")[o] : 0.0;
      for (std::size_t i = 0; i < inputs; ++i) sum += weight[o * inputs + i] * x[row * inputs + i];
      y.push_back(sum);
    }
  }
  return y;
}

Values NaiveGraph::Embedding(const Node& node, const NaiveBatch& batch) const {
  const std::size_t units = At(node.Integer("units"));
  const Values& weight = parameters.at(node.name + ".weight");
  Values y;
  for (const std::int32_t token : batch.tokens) {
    for (std::size_t i = 0; i < units; ++i) y.push_back(weight[At(token) * units + i]);
  }
  return y;
}

Values NaiveGraph::Lstm(const Node& node, const Values& x) {
  const Shape& from = ShapeOf(node.inputs[0]);
  const std::size_t units = At(node.Integer("units")), inputs = At(from[1]), length = At(from[0]);
  const Values& weight_ih = parameters.at(node.name + ".weight_ih");
  const Values& weight_hh = parameters.at(node.name + ".weight_hh");
  const Values& bias = parameters.at(node.name + ".bias");
  const bool carried = node.Text("state") == "carried";
  Values y(At(batch_) * length * units);
  for (std::size_t n = 0; n < At(batch_); ++n) {
    Values h(units, 0.0), c(units, 0.0);
    for (std::size_t k = 0; carried && k < units; ++k) {
      h[k] = buffers.at(node.name + ".hidden")[n * units + k];
      c[k] = buffers.at(node.name + ".cell")[n * units + k];
    }
    for (std::size_t t = 0; t < length; ++t) {
      Values gates = bias;
      for (std::size_t g = 0; g < 4 * units; ++g) {
        for (std::size_t i = 0; i < inputs; ++i) {
          gates[g] += weight_ih[g * inputs + i] * x[(n * length + t) * inputs + i];
        }
        for (std::size_t k = 0; k < units; ++k) gates[g] += weight_hh[g * units + k] * h[k];
      }
      for (std::size_t k = 0; k < units; ++k) {
        c[k] =
            Sigmoid(gates[units + k]) * c[k] + Sigmoid(gates[k]) * std::tanh(gates[2 * units + k]);
        h[k] = Sigmoid(gates[3 * units + k]) * std::tanh(c[k]);
        y[(n * length + t) * units + k] = h[k];
      }
    }
    for (std::size_t k = 0; carried && trains_ && k < units; ++k) {
      buffers.at(node.name + ".hidden")[n * units + k] = h[k];
      buffers.at(node.name + ".cell")[n * units + k] = c[k];
    }
  }
  return y;
}

}  // namespace dlbench::onednn
