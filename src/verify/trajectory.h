#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "data/dataset.h"
#include "network/network.h"
#include "reference/engine.h"

namespace dlbench::verify {

/// Tensors by canonical name, as float64.
using Tensors = std::map<std::string, std::vector<double>>;

/// Training steps to take: step i uses pool batch batches[i] and learning_rates[i].
struct Sequence {
  std::vector<std::int64_t> batches;
  std::vector<double> learning_rates;
};

/// What the reference computed along a Sequence.
struct Trajectory {
  std::vector<double> losses;               ///< Of every step, before its update.
  std::vector<double> logits;               ///< Of the first step, [batch, (T,) classes].
  Tensors gradients;                        ///< Of the first step.
  std::map<std::int64_t, Tensors> weights;  ///< After so many steps; 0 is the start.
  std::map<std::int64_t, Tensors> buffers;  ///< Likewise, where the network has any.
  std::vector<Tensors> sampled_gradients;   ///< Of every step, at SampleIndices of each tensor.
};

/// What to keep of a run; everything else would only take memory.
struct Keep {
  bool first_step = true;  ///< Logits and gradients of the first step.
  std::set<std::int64_t>
      weights_after;  ///< Weights and buffers after so many steps (0: the start).
  bool sampled_gradients = false;
};

/// Up to 4096 indices spread evenly over a tensor of `count` elements.
std::vector<std::size_t> SampleIndices(std::size_t count);

/// The pool's batch `index` as the engine takes it.
std::span<const float> BatchInputs(const data::BatchPool& pool, std::int64_t index);
std::span<const std::int32_t> BatchLabels(const data::BatchPool& pool, std::int64_t index);
reference::Masks BatchMasks(const data::BatchPool& pool, std::int64_t index);

/// Trains the reference from `start` along `sequence` in the given arithmetic.
Result<Trajectory> RunReference(const network::Network& network, const reference::State& start,
                                const data::BatchPool& pool, const Sequence& sequence,
                                const Keep& keep, reference::Arithmetic arithmetic);

}  // namespace dlbench::verify
