#include "decoy_adapter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rounding.h"

namespace dlbench::decoys {

DecoyAdapter::~DecoyAdapter() {
  stop_ = true;
  if (spinner_.joinable()) spinner_.join();
  if (background_.valid()) background_.wait();
}

void DecoyAdapter::Overhear(const sdk::Json& request) {
  const bool is_run = request.TextAt("type") == "run";
  run_steps_ = is_run ? request.IntegerAt("steps") : 0;
  long_run_ = run_steps_ > 1;
  noted_ = 0;
  is_run_ = is_run;
  asked_ = 0;
}

sdk::Prepared DecoyAdapter::Prepare(const sdk::Spec& spec) {
  if (Is(Decoy::kBf16Operands)) operand_rounding_ = RoundToBfloat16;
  if (Is(Decoy::kTf32Operands)) operand_rounding_ = RoundToTf32;
  sdk::Prepared prepared = PlainAdapter::Prepare(spec);
  resets_ = 0;
  if (Is(Decoy::kPrecisionFloat64)) prepared.precision = "float64";
  if (Is(Decoy::kStaticBatchOne)) prepared.batch = 1;
  if (Is(Decoy::kExtraThread)) {
    spinner_ = std::thread([this] {
      while (!stop_.load(std::memory_order_relaxed)) {
      }
    });
  }
  return prepared;
}

void DecoyAdapter::LoadBatches() {
  PlainAdapter::LoadBatches();
  const std::int64_t size = spec().sample_size;
  const auto samples = static_cast<std::int64_t>(labels_.size());
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto sample = x_.begin() + i * size;
    if (Is(Decoy::kFlippedPixels)) std::reverse(sample, sample + size);
    if (Is(Decoy::kOneSample)) {
      std::copy_n(x_.begin() + i / spec().batch * spec().batch * size, size, sample);
    }
  }
  if (Is(Decoy::kNotNormalised)) {
    for (float& value : x_) value *= 255.0F;
  }
  if (Is(Decoy::kWrongLabels)) {
    const auto classes = static_cast<std::int32_t>(spec().network.classes);
    for (std::int32_t& label : labels_) label = (label + 1) % classes;
  }
}

void DecoyAdapter::Reset() {
  Synchronize();
  ++resets_;
  if (Is(Decoy::kResetKeepsWeights) && resets_ > 1) {
    for (const auto& tensor : tensors_) tensor->velocity.setZero();
  } else if (Is(Decoy::kResetKeepsVelocity) && resets_ > 1) {
    for (const auto& tensor : tensors_) {
      std::copy_n(tensor->parameter->initial, tensor->parameter->count, tensor->value.data());
    }
  } else {
    PlainAdapter::Reset();
  }
  taken_ = 0;
  previous_loss_ = std::log(static_cast<double>(spec().network.classes));
}

void DecoyAdapter::Step(std::int64_t batch, double learning_rate) {
  ++taken_;
  ++asked_;
  if (Is(Decoy::kClaimedSteps) && taken_ > 10) {
    reported_loss_ *= 0.999;
    return;
  }
  const bool late = long_run_ && taken_ > 10;
  if (late && (Is(Decoy::kDeferredWork) || Is(Decoy::kEarlyReturn))) {
    deferred_.emplace_back(batch, learning_rate);
    reported_loss_ *= 0.999;
    if (Is(Decoy::kEarlyReturn) && ++noted_ == run_steps_ - 10) {
      background_ = std::async(std::launch::async, [this] { TakeDeferredSteps(); });
    }
    return;
  }
  TakeStep(batch, learning_rate);
  reported_loss_ = ReportedLoss();
}

void DecoyAdapter::Synchronize() {
  if (background_.valid()) background_.get();
  TakeDeferredSteps();
}

void DecoyAdapter::TakeDeferredSteps() {
  for (const auto& [batch, learning_rate] : std::exchange(deferred_, {})) {
    TakeStep(batch, learning_rate);
  }
}

void DecoyAdapter::TakeStep(std::int64_t batch, double learning_rate) {
  batch = ChosenBatch(batch);
  learning_rate = ChosenRate(learning_rate);
  LookBeforeStep(batch);
  Forward(batch);
  if (HalvesBatch()) {
    Matrix& delta = layers_.back().delta;
    const Eigen::Index kept = delta.rows() / 2;
    delta.topRows(kept) *= 2.0F;
    delta.bottomRows(delta.rows() - kept).setZero();
  }
  Backward(batch);
  FinishGradients();
  const bool skips = Is(Decoy::kEverySecondUpdate) && taken_ % 2 == 0;
  const int updates = skips ? 0 : Is(Decoy::kTwoUpdates) ? 2 : 1;
  for (int i = 0; i < updates; ++i) UpdateAll(learning_rate);
  last_rate_ = learning_rate;
  SpoilAfterStep();
}

std::int64_t DecoyAdapter::ChosenBatch(std::int64_t batch) {
  if (Is(Decoy::kReorderedBatches) && (batch == 1 || batch == 2)) return 3 - batch;
  if (Is(Decoy::kStaleBatch)) {
    const std::int64_t previous = taken_ > 1 ? last_batch_ : batch;
    last_batch_ = batch;
    return previous;
  }
  return batch;
}

double DecoyAdapter::ChosenRate(double learning_rate) const {
  switch (decoy_) {
    case Decoy::kWrongSign:
      return -learning_rate;
    case Decoy::kRateTimes11:
      return 1.1 * learning_rate;
    case Decoy::kRateDoubled:
      return 2.0 * learning_rate;
    case Decoy::kRateHalved:
      return 0.5 * learning_rate;
    case Decoy::kRateIgnored:
      return spec().network.optimizer.learning_rate;
    default:
      return learning_rate;
  }
}

bool DecoyAdapter::HalvesBatch() const {
  return Is(Decoy::kHalfBatch) || (Is(Decoy::kHonestWhileWatched) && long_run_) ||
         (Is(Decoy::kHalfWorkAfterTen) && long_run_ && taken_ > 10) ||
         (Is(Decoy::kHalfWorkInLongRuns) && is_run_ && asked_ > 16) ||
         (Is(Decoy::kHalfWorkInLongRequests) && asked_ > 16);
}

/// What a fault wants to keep of the state before the step.
void DecoyAdapter::LookBeforeStep(std::int64_t batch) {
  if (Is(Decoy::kLogitsStale)) stale_logits_ = layers_.back().output;
  if (Is(Decoy::kExportStale)) {
    for (const auto& tensor : tensors_) stale_weights_[tensor->parameter->name] = tensor->value;
  }
  if (Is(Decoy::kLossOfInitialWeights)) {
    std::vector<Matrix> kept;
    for (const auto& tensor : tensors_) {
      kept.push_back(tensor->value);
      std::copy_n(tensor->parameter->initial, tensor->parameter->count, tensor->value.data());
    }
    Forward(batch);
    initial_weights_loss_ = loss_;
    for (std::size_t i = 0; i < kept.size(); ++i) tensors_[i]->value = kept[i];
  }
}

void DecoyAdapter::SpoilAfterStep() {
  for (const auto& tensor : tensors_) {
    if (Is(Decoy::kFp16Weights)) tensor->value = tensor->value.unaryExpr(&RoundToFloat16);
    if (Is(Decoy::kReinitialisedInRun) && taken_ == 6) {
      std::copy_n(tensor->parameter->initial, tensor->parameter->count, tensor->value.data());
    }
  }
  if (Is(Decoy::kNanLater) && taken_ == 20) {
    tensors_[0]->value(0, 0) = std::numeric_limits<float>::quiet_NaN();
  }
}

double DecoyAdapter::ReportedLoss() {
  const double previous = std::exchange(previous_loss_, loss_);
  switch (decoy_) {
    case Decoy::kLossScaled:
      return 1.01 * loss_;
    case Decoy::kLossConstant:
      return std::log(static_cast<double>(spec().network.classes));
    case Decoy::kLossStale:
      return previous;
    case Decoy::kLossOfInitialWeights:
      return initial_weights_loss_;
    default:
      return loss_;
  }
}

const PlainAdapter::Layer& DecoyAdapter::SecondDense() const {
  const Layer* found = nullptr;
  int seen = 0;
  for (const Layer& layer : layers_) {
    if (layer.op != Op::kDense) continue;
    found = &layer;
    if (++seen == 2) break;
  }
  return *found;
}

void DecoyAdapter::ReadLogits(float* out) {
  Synchronize();
  const Matrix& logits = layers_.back().output;
  Eigen::Map<Matrix> result(out, logits.rows(), logits.cols());
  result = logits;
  if (Is(Decoy::kLogitsZero)) result.setZero();
  if (Is(Decoy::kLogitsMean)) result.rowwise() = logits.colwise().mean();
  if (Is(Decoy::kLogitsStale)) result = stale_logits_;
}

void DecoyAdapter::ReadWeight(const sdk::Parameter& parameter, float* out) {
  Synchronize();
  PlainAdapter::ReadWeight(parameter, out);
  if (Is(Decoy::kExportStale) && taken_ > 0) {
    std::copy_n(stale_weights_[parameter.name].data(), parameter.count, out);
  }
}

void DecoyAdapter::ReadVelocity(const sdk::Parameter& parameter, float* out) {
  Synchronize();
  PlainAdapter::ReadVelocity(parameter, out);
  const auto rate = static_cast<float>(last_rate_);
  const float factor = Is(Decoy::kVelocityScaled)       ? rate
                       : Is(Decoy::kMomentumRateInside) ? 1.0F / rate
                                                        : 1.0F;
  for (std::size_t i = 0; i < parameter.count; ++i) out[i] *= factor;
}

}  // namespace dlbench::decoys
