#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dlbench::decoys {

/// One planted fault each. The list grows with every fault found in the wild.
enum class Decoy {
  kNone,
  // What a step computes.
  kSoftmaxTwice,
  kMissingBias,
  kTransposedWeight,
  kTanhApproximation,
  kHardSigmoid,
  kDropoutOn,
  kBf16Operands,
  kTf32Operands,
  kFlippedPixels,
  kNotNormalised,
  kWrongLabels,
  kReorderedBatches,
  kStaleBatch,
  kHalfBatch,
  kOneSample,
  kLossSum,
  kZeroGradient,
  kLastLayerOnly,
  kClippedGradients,
  kDoubleBiasGradient,
  // The update.
  kWrongSign,
  kRateTimes11,
  kRateDoubled,
  kRateHalved,
  kRateIgnored,
  kMomentumMissing,
  kMomentumDampened,
  kMomentumRateInside,
  kNesterov,
  kDecayMissing,
  kDecayDoubled,
  kDecayOnBiases,
  kDecayAfterMomentum,
  kDecayUnscaled,
  kEverySecondUpdate,
  kTwoUpdates,
  kFp16Weights,
  // What is reported.
  kLossScaled,
  kLossConstant,
  kLossStale,
  kLossOfInitialWeights,
  kLogitsZero,
  kLogitsMean,
  kLogitsStale,
  kExportStale,
  kVelocityScaled,
  kPrecisionFloat64,
  kStaticBatchOne,
  kTimesHalved,
  kTimesShifted,
  kStepsDoubled,
  // What happens while nobody looks.
  kResetKeepsWeights,
  kResetKeepsVelocity,
  kReinitialisedInRun,
  kClaimedSteps,
  kDeferredWork,
  kEarlyReturn,
  kHonestWhileWatched,
  kHalfWorkAfterTen,
  kHalfWorkInLongRuns,
  kHalfWorkInLongRequests,
  kNanLater,
  kExtraThread,
};

/// What a decoy does and who must notice. docs are generated from this table.
struct DecoyInfo {
  Decoy decoy;
  std::string_view name;    ///< Value of DLBENCH_DECOY.
  std::string_view what;    ///< The fault, in one sentence.
  std::string_view check;   ///< First quantity that must fail: see Checks().
  std::string_view reason;  ///< What the reason must speak of.
};

/// The values of DecoyInfo::check, of which the first to fail is meant. The first six are
/// verify::Quantity's, taken in the order logits, loss and gradients of the first step, updates,
/// and losses of later steps (a wrong update shows in those too); then `prepared` (the answer to
/// prepare), `times` (of ran), `sync` (work left after ran), `threads` (processor time), `finite`
/// (a value that is not), `run_state` (the state after a run of many steps, compared with verify's
/// over the same batches: no check of one single step can see it), `middle` (a few steps amid many
/// taken by verify).
std::span<const std::string_view> Checks();

/// All decoys without kNone, in the order of the enumeration.
std::span<const DecoyInfo> AllDecoys();

/// The decoy called `name`; throws std::runtime_error for an unknown one. Empty means kNone.
Decoy FindDecoy(const std::string& name);

}  // namespace dlbench::decoys
