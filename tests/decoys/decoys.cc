#include "decoys.h"

#include <array>
#include <stdexcept>

namespace dlbench::decoys {
namespace {

constexpr std::array<std::string_view, 13> kChecks = {
    "logits", "loss", "gradient", "update", "run_loss",  "run_update", "prepared",
    "times",  "sync", "threads",  "finite", "run_state", "middle"};

// clang-format off
constexpr DecoyInfo kDecoys[] = {
    {Decoy::kSoftmaxTwice, "softmax_twice", "the loss takes the softmax of the softmax",
     "loss", "softmax applied twice"},
    {Decoy::kMissingBias, "missing_bias", "the second dense layer has no bias",
     "logits", "bias of fc2 missing"},
    {Decoy::kTransposedWeight, "transposed_weight", "a square weight is used transposed",
     "logits", "fc2.weight transposed"},
    {Decoy::kTanhApproximation, "tanh_approximation", "tanh is a rational function that is off by up to 0.024",
     "logits", "values after tanh differ"},
    {Decoy::kHardSigmoid, "hard_sigmoid", "sigmoid is three straight lines",
     "logits", "values after sigmoid differ"},
    {Decoy::kDropoutOn, "dropout_on", "a tenth of the hidden values is dropped, survivors scaled",
     "logits", "logits differ at random"},
    {Decoy::kBf16Operands, "bf16_operands", "operands of products are rounded to bfloat16",
     "logits", "precision of bfloat16"},
    {Decoy::kTf32Operands, "tf32_operands", "operands of products are rounded to TF32",
     "logits", "precision of TF32"},
    {Decoy::kFlippedPixels, "flipped_pixels", "each sample is read from its end",
     "logits", "input in another order"},
    {Decoy::kNotNormalised, "not_normalised", "the input is 255 times too large",
     "logits", "input scaled by 255"},
    {Decoy::kWrongLabels, "wrong_labels", "every label is one too high",
     "loss", "labels shifted by one"},
    {Decoy::kReorderedBatches, "reordered_batches", "batches 1 and 2 are exchanged",
     "update", "batches in another order"},
    {Decoy::kStaleBatch, "stale_batch", "from the second step on the previous step's batch is used",
     "update", "one batch behind"},
    {Decoy::kHalfBatch, "half_batch", "gradients come from the first half of the batch, scaled by 2",
     "gradient", "only part of the batch"},
    {Decoy::kOneSample, "one_sample", "the first sample stands for the whole batch",
     "logits", "all rows of the logits are equal"},
    {Decoy::kLossSum, "loss_sum", "the loss is summed over the batch, not averaged",
     "loss", "scale of the batch size"},
    {Decoy::kZeroGradient, "zero_gradient", "the gradient of fc2.weight is zero",
     "gradient", "fc2.weight is zero"},
    {Decoy::kLastLayerOnly, "last_layer_only", "everything before the last layer is detached",
     "gradient", "fc1.weight is zero"},
    {Decoy::kClippedGradients, "clipped_gradients", "gradients are clipped to half their norm",
     "gradient", "scale of 1/2"},
    {Decoy::kDoubleBiasGradient, "double_bias_gradient", "two trainable biases are summed, so that it moves twice",
     "gradient", "scale of 2 on biases"},
    {Decoy::kWrongSign, "wrong_sign", "the update goes uphill",
     "update", "sign"},
    {Decoy::kRateTimes11, "rate_times_1_1", "the learning rate is 1.1 times too large",
     "update", "learning rate, factor 1.1"},
    {Decoy::kRateDoubled, "rate_doubled", "the learning rate is doubled",
     "update", "learning rate, factor 2"},
    {Decoy::kRateHalved, "rate_halved", "the learning rate is halved",
     "update", "learning rate, factor 1/2"},
    {Decoy::kRateIgnored, "rate_ignored", "the network's learning rate is used whatever is asked",
     "update", "learning rate of the later steps"},
    {Decoy::kMomentumMissing, "momentum_missing", "plain gradient descent",
     "update", "momentum missing"},
    {Decoy::kMomentumDampened, "momentum_dampened", "v <- m v + (1 - m) g",
     "update", "dampened momentum"},
    {Decoy::kMomentumRateInside, "momentum_rate_inside", "v <- m v + lr g, w <- w - v: differs once the rate changes",
     "update", "learning rate inside the velocity"},
    {Decoy::kNesterov, "nesterov", "Nesterov's momentum where plain momentum is asked",
     "update", "Nesterov"},
    {Decoy::kDecayMissing, "decay_missing", "no weight decay",
     "update", "weight decay missing"},
    {Decoy::kDecayDoubled, "decay_doubled", "decay counts twice, as for decay * w^2 without the half",
     "update", "weight decay, factor 2"},
    {Decoy::kDecayOnBiases, "decay_on_biases", "biases decay too",
     "update", "weight decay on biases"},
    {Decoy::kDecayAfterMomentum, "decay_after_momentum", "decoupled decay: v <- m v + g, w <- w - lr (v + decay w)",
     "update", "decay after momentum"},
    {Decoy::kDecayUnscaled, "decay_unscaled", "decoupled decay without the learning rate: w <- (1 - decay) w - lr v",
     "update", "decay without learning rate"},
    {Decoy::kEverySecondUpdate, "every_second_update", "every second step updates nothing",
     "update", "updates skipped"},
    {Decoy::kTwoUpdates, "two_updates", "every step updates twice",
     "update", "updates doubled"},
    {Decoy::kFp16Weights, "fp16_weights", "weights are stored rounded to float16",
     "update", "precision of float16"},
    {Decoy::kLossScaled, "loss_scaled", "the loss is reported 1 % too large",
     "loss", "scale of 1.01"},
    {Decoy::kLossConstant, "loss_constant", "the loss is always ln(classes)",
     "loss", "the same loss each step"},
    {Decoy::kLossStale, "loss_stale", "the loss is the previous step's",
     "loss", "one step behind"},
    {Decoy::kLossOfInitialWeights, "loss_of_initial_weights", "the loss is computed with the initial weights",
     "loss", "loss from the second step on"},
    {Decoy::kLogitsZero, "logits_zero", "the logits are zeros",
     "logits", "all zero"},
    {Decoy::kLogitsMean, "logits_mean", "each logit is the mean over the batch",
     "logits", "all rows of the logits are equal"},
    {Decoy::kLogitsStale, "logits_stale", "the logits are those that the step before computed",
     "logits", "one step behind"},
    {Decoy::kExportStale, "export_stale", "exported weights are those before the last step",
     "update", "one step behind"},
    {Decoy::kVelocityScaled, "velocity_scaled", "the exported velocity is multiplied by the learning rate",
     "run_update", "velocity in another convention"},
    {Decoy::kPrecisionFloat64, "precision_float64", "the adapter says that it computes in float64",
     "prepared", "precision float64 instead of float32"},
    {Decoy::kStaticBatchOne, "static_batch_one", "a step of batch 1 was built",
     "prepared", "batch 1 instead of the one asked for"},
    {Decoy::kTimesHalved, "times_halved", "every step is reported in half its time",
     "times", "times do not add up"},
    {Decoy::kTimesShifted, "times_shifted", "steps are reported an hour in the past",
     "times", "times outside of the request"},
    {Decoy::kStepsDoubled, "steps_doubled", "every record claims two steps",
     "times", "number of steps"},
    {Decoy::kResetKeepsWeights, "reset_keeps_weights", "only the first reset restores the weights",
     "run_loss", "the second reset"},
    {Decoy::kResetKeepsVelocity, "reset_keeps_velocity", "only the first reset clears the velocity",
     "run_loss", "the second reset"},
    {Decoy::kReinitialisedInRun, "reinitialised_in_run", "after six steps of a run the initial weights are back",
     "run_loss", "loss of the seventh step of a run"},
    {Decoy::kClaimedSteps, "claimed_steps", "after ten steps since the reset nothing is done, and the loss is made up",
     "run_update", "weights do not move"},
    {Decoy::kDeferredWork, "deferred_work", "after ten steps of a run steps are only noted, and taken when somebody looks",
     "sync", "work left after the answer"},
    {Decoy::kEarlyReturn, "early_return", "after ten steps of a run the rest is handed to a thread, without waiting for it",
     "sync", "work left after the answer"},
    {Decoy::kHonestWhileWatched, "honest_while_watched", "runs of more than one step use half of each batch",
     "run_loss", "loss of the run's first steps"},
    {Decoy::kHalfWorkAfterTen, "half_work_after_ten", "runs of more than one step use half of each batch from the eleventh step on",
     "run_state", "the state after the run is not that of verify"},
    {Decoy::kHalfWorkInLongRuns, "half_work_in_long_runs", "runs use half of each batch from their seventeenth step on",
     "run_state", "the state after the run is not that of verify"},
    {Decoy::kHalfWorkInLongRequests, "half_work_in_long_requests", "runs and verify alike use half of each batch from their seventeenth step on",
     "middle", "steps amid many are not those of the reference"},
    {Decoy::kNanLater, "nan_later", "a weight becomes NaN after twenty steps",
     "finite", "not finite"},
    {Decoy::kExtraThread, "extra_thread", "one thread more than asked for is busy",
     "threads", "more processor time than the threads asked for allow"},
};
// clang-format on

}  // namespace

std::span<const std::string_view> Checks() { return kChecks; }

std::span<const DecoyInfo> AllDecoys() { return kDecoys; }

Decoy FindDecoy(const std::string& name) {
  if (name.empty()) return Decoy::kNone;
  for (const DecoyInfo& info : kDecoys) {
    if (info.name == name) return info.decoy;
  }
  throw std::runtime_error("there is no decoy '" + name + "'");
}

}  // namespace dlbench::decoys
