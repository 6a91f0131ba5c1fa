#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dlbench_adapter.h"

namespace dlbench::onednn {

/// One batch for a network, made up from a seed. Masks by node.
struct NaiveBatch {
  NaiveBatch(const adapter::Network& network, std::int64_t batch, unsigned seed);

  std::vector<float> x;
  std::vector<std::int32_t> tokens, labels;
  std::map<std::string, std::vector<std::uint8_t>> masks;
};

/// Any network of docs/networks.md in float64 by plain loops, forward only: gradients come from
/// differences of the loss. Tensors are in file order.
class NaiveGraph {
 public:
  using Values = std::vector<double>;

  NaiveGraph(adapter::Network network, std::int64_t batch);

  /// The loss; sets `logits`. With `trains`, the buffers move on as in a step.
  double Loss(const NaiveBatch& batch, bool trains);
  /// d loss / d parameter[index], by central differences.
  double Derivative(const NaiveBatch& batch, const std::string& parameter, std::size_t index);

  std::map<std::string, Values> parameters, buffers;
  Values logits;

 private:
  Values Compute(const adapter::Node& node, const NaiveBatch& batch);
  const adapter::Shape& ShapeOf(const std::string& name) const;
  Values Convolution(const adapter::Node& node, const Values& x) const;
  Values Pool(const adapter::Node& node, const Values& x) const;
  Values Lrn(const adapter::Node& node, const Values& x) const;
  Values BatchNorm(const adapter::Node& node, const Values& x);
  Values SubsamplePad(const adapter::Node& node, const Values& x) const;
  Values Dense(const adapter::Node& node, const Values& x) const;
  Values Embedding(const adapter::Node& node, const NaiveBatch& batch) const;
  Values Lstm(const adapter::Node& node, const Values& x);

  adapter::Network network_;
  std::int64_t batch_;
  bool trains_ = false;
  std::map<std::string, Values> values_;
};

}  // namespace dlbench::onednn
