// The stages of a step with their faults: forward, loss, gradients, update; and what is reported.

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "decoy_adapter.h"
#include "rounding.h"

namespace dlbench::decoys {
namespace {

/// Rounds away the lowest `bits` bits of the significand, ties to even.
float RoundBits(float value, int bits) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  const std::uint32_t lowest_kept = (word >> bits) & 1U;
  word += (1U << (bits - 1)) - 1U + lowest_kept;
  word &= ~((1U << bits) - 1U);
  std::memcpy(&value, &word, sizeof value);
  return value;
}

}  // namespace

float RoundToBfloat16(float value) { return RoundBits(value, 16); }
float RoundToTf32(float value) { return RoundBits(value, 13); }
float RoundToFloat16(float value) { return static_cast<float>(Eigen::half(value)); }

void DecoyAdapter::DenseForward(const Layer& layer, const Eigen::Ref<const Matrix>& input,
                                Rows output) {
  PlainAdapter::DenseForward(layer, input, output);
  const bool chosen = layer.weight == SecondDense().weight;
  if (Is(Decoy::kMissingBias) && chosen && layer.bias != nullptr) {
    output.rowwise() -= layer.bias->value.col(0).transpose();
  }
  if (Is(Decoy::kTransposedWeight) && chosen &&
      layer.weight->value.rows() == layer.weight->value.cols()) {
    output.noalias() = input * layer.weight->value;
    if (layer.bias != nullptr) output.rowwise() += layer.bias->value.col(0).transpose();
  }
}

void DecoyAdapter::Activate(Op op, Rows values) {
  if (op == Op::kTanh && Is(Decoy::kTanhApproximation)) {
    const auto square = values.array().square();
    values = (values.array() * (27.0F + square) / (27.0F + 9.0F * square)).min(1.0F).max(-1.0F);
  } else if (op == Op::kSigmoid && Is(Decoy::kHardSigmoid)) {
    values = (0.2F * values.array() + 0.5F).min(1.0F).max(0.0F);
  } else {
    PlainAdapter::Activate(op, values);
  }
  if (Is(Decoy::kDropoutOn)) {
    std::uint64_t state = static_cast<std::uint64_t>(taken_) * 7919 + static_cast<unsigned>(op);
    for (float& value : values.reshaped()) {
      value = sdk::SplitMix64(state) % 10 == 0 ? 0.0F : value / 0.9F;
    }
  }
}

void DecoyAdapter::LossGradient(std::int64_t batch, Eigen::Index first, Rows logits, Rows delta) {
  if (!Is(Decoy::kSoftmaxTwice)) {
    PlainAdapter::LossGradient(batch, first, logits, delta);
  } else {
    Matrix softmax = logits;
    for (Eigen::Index row = 0; row < softmax.rows(); ++row) {
      softmax.row(row) = (logits.row(row).array() - logits.row(row).maxCoeff()).exp();
      softmax.row(row) /= softmax.row(row).sum();
    }
    PlainAdapter::LossGradient(batch, first, softmax, delta);
    for (Eigen::Index row = 0; row < softmax.rows(); ++row) {
      const float mean = softmax.row(row).dot(delta.row(row));
      delta.row(row) = softmax.row(row).array() * (delta.row(row).array() - mean);
    }
  }
  if (Is(Decoy::kLossSum)) {
    const auto size = static_cast<float>(spec().batch);
    delta *= size;
    for (Eigen::Index row = 0; row < delta.rows(); ++row) {
      row_losses_[static_cast<std::size_t>(first + row)] *= size;
    }
  }
}

void DecoyAdapter::FinishGradients() {
  for (const auto& tensor : tensors_) SpoilTensor(*tensor);
}

void DecoyAdapter::SpoilTensor(Tensor& tensor) {
  const Layer& second = SecondDense();
  const Layer& last = layers_.back();
  const bool in_last = &tensor == last.weight || &tensor == last.bias;
  switch (decoy_) {
    case Decoy::kMissingBias:
      if (&tensor == second.bias) tensor.gradient.setZero();
      break;
    case Decoy::kZeroGradient:
      if (&tensor == second.weight) tensor.gradient.setZero();
      break;
    case Decoy::kLastLayerOnly:
      if (!in_last) tensor.gradient.setZero();
      break;
    case Decoy::kClippedGradients:
      tensor.gradient *= 0.5F;
      break;
    case Decoy::kDoubleBiasGradient:
      if (tensor.parameter->shape.size() == 1) tensor.gradient *= 2.0F;
      break;
    default:
      break;
  }
}

void DecoyAdapter::Update(Tensor& tensor, Eigen::Index begin, Eigen::Index count, float rate) {
  const sdk::Optimizer& optimizer = spec().network.optimizer;
  auto momentum = static_cast<float>(optimizer.momentum);
  const bool decays = tensor.parameter->decays || Is(Decoy::kDecayOnBiases);
  auto decay = decays ? static_cast<float>(optimizer.weight_decay) : 0.0F;
  if (Is(Decoy::kDecayMissing)) decay = 0.0F;
  if (Is(Decoy::kDecayDoubled)) decay *= 2.0F;
  if (Is(Decoy::kMomentumMissing)) momentum = 0.0F;
  auto value = tensor.value.middleRows(begin, count).array();
  auto velocity = tensor.velocity.middleRows(begin, count).array();
  const auto gradient = tensor.gradient.middleRows(begin, count).array();
  switch (decoy_) {
    case Decoy::kDecayMissing:
    case Decoy::kDecayDoubled:
    case Decoy::kDecayOnBiases:
    case Decoy::kMomentumMissing:
      velocity = momentum * velocity + (gradient + decay * value);
      value -= rate * velocity;
      break;
    case Decoy::kMomentumDampened:
      velocity = momentum * velocity + (1.0F - momentum) * (gradient + decay * value);
      value -= rate * velocity;
      break;
    case Decoy::kMomentumRateInside:
      velocity = momentum * velocity + rate * (gradient + decay * value);
      value -= velocity;
      break;
    case Decoy::kNesterov: {
      const Eigen::ArrayXXf decayed = gradient + decay * value;
      velocity = momentum * velocity + decayed;
      value -= rate * (decayed + momentum * velocity);
      break;
    }
    case Decoy::kDecayAfterMomentum:
      velocity = momentum * velocity + gradient;
      value -= rate * (velocity + decay * value);
      break;
    case Decoy::kDecayUnscaled:
      velocity = momentum * velocity + gradient;
      value = (1.0F - decay) * value - rate * velocity;
      break;
    default:
      PlainAdapter::Update(tensor, begin, count, rate);
  }
}

std::string DecoyAdapter::Forge(const std::string& reply) const {
  const bool forges =
      Is(Decoy::kTimesHalved) || Is(Decoy::kTimesShifted) || Is(Decoy::kStepsDoubled);
  const sdk::Json parsed = sdk::Json::Parse(reply);
  if (!forges || parsed.TextAt("type") != "ran") return reply;
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  std::vector<std::int64_t> steps = parsed.IntegersAt("steps");
  std::vector<std::int64_t> begin = parsed.IntegersAt("begin_ns");
  std::vector<std::int64_t> end = parsed.IntegersAt("end_ns");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (Is(Decoy::kTimesHalved)) end[i] = begin[i] + (end[i] - begin[i]) / 2;
    if (Is(Decoy::kTimesShifted)) begin[i] -= kHourNs;
    if (Is(Decoy::kTimesShifted)) end[i] -= kHourNs;
    if (Is(Decoy::kStepsDoubled)) steps[i] *= 2;
  }
  sdk::Json forged = sdk::Json::Object();
  forged.Set("id", parsed.IntegerAt("id")).Set("type", "ran");
  forged.Set("steps", sdk::Json::ArrayOf(steps)).Set("begin_ns", sdk::Json::ArrayOf(begin));
  forged.Set("end_ns", sdk::Json::ArrayOf(end)).Set("losses", parsed.At("losses"));
  return forged.Dump();
}

}  // namespace dlbench::decoys
