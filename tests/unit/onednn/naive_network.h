#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dlbench_adapter.h"
#include "spec.h"

namespace dlbench::onednn {

/// One layer of a chain: a dense layer or an activation by itself.
struct LayerSpec {
  std::string name;
  Activation activation = Activation::kNone;  ///< kNone: this is a dense layer.
  std::int64_t units = 0;                     ///< Width of a dense layer's output.
  bool has_bias = true;
  bool weight_decays = true;  ///< Whether weight decay applies to the weight.
  bool bias_decays = true;    ///< Whether weight decay applies to the bias.
};

/// A chain of layers with a softmax cross-entropy on the last one's output.
struct NetworkSpec {
  std::int64_t input_width = 0;
  std::vector<LayerSpec> layers;
  bool mean_loss = true;  ///< False: the sum over the batch.
  SgdRule sgd;
};

/// The chain as `prepare` would bring it.
adapter::Network ToNetwork(const NetworkSpec& spec);

/// The same chain in float64 with plain loops: what the engine must agree with.
class NaiveNetwork {
 public:
  /// Parameters in the engine's order, from float32 values drawn from `seed`.
  NaiveNetwork(NetworkSpec spec, std::int64_t batch, unsigned seed);

  /// The float32 start of parameter `index`.
  const std::vector<float>& start(std::size_t index) const { return start_[index]; }
  std::size_t parameter_count() const { return start_.size(); }

  /// One step; returns the loss before the update.
  double Step(const std::vector<float>& x, const std::vector<std::int32_t>& labels, double rate);

  std::vector<std::vector<double>> values, gradients, velocities;
  std::vector<double> logits;

 private:
  using Matrix = std::vector<double>;
  Matrix Forward(const Matrix& input, std::size_t layer, std::size_t& parameter) const;
  double Loss(const std::vector<std::int32_t>& labels, Matrix& gradient) const;
  void Update(double rate);

  NetworkSpec spec_;
  std::int64_t batch_;
  std::vector<std::vector<float>> start_;
  std::vector<bool> decays_;
};

/// `count` numbers in [-1, 1) from `seed`.
std::vector<float> RandomNumbers(std::size_t count, unsigned seed);
/// `count` labels in [0, classes) from `seed`.
std::vector<std::int32_t> RandomLabels(std::size_t count, std::int64_t classes, unsigned seed);
/// The largest absolute difference over the largest absolute expected value.
double RelativeError(const std::vector<float>& got, const std::vector<double>& expected);
/// A chain input -> widths[0] -> ... with `activation` between the dense layers.
NetworkSpec Chain(std::int64_t input, const std::vector<std::int64_t>& widths,
                  Activation activation);

}  // namespace dlbench::onednn
