#include "verify/trajectory.h"

#include <algorithm>
#include <utility>

namespace dlbench::verify {
namespace {

constexpr std::size_t kSampledElements = 4096;

Tensors Sample(const Tensors& tensors) {
  Tensors sampled;
  for (const auto& [name, values] : tensors) {
    std::vector<double>& kept = sampled[name];
    for (const std::size_t index : SampleIndices(values.size())) kept.push_back(values[index]);
  }
  return sampled;
}

}  // namespace

std::vector<std::size_t> SampleIndices(std::size_t count) {
  const std::size_t kept = std::min(count, kSampledElements);
  std::vector<std::size_t> indices(kept);
  for (std::size_t i = 0; i < kept; ++i) indices[i] = i * count / kept;
  return indices;
}

std::span<const float> BatchInputs(const data::BatchPool& pool, std::int64_t index) {
  const std::size_t size = pool.x.size() / static_cast<std::size_t>(pool.count);
  return std::span(pool.x).subspan(static_cast<std::size_t>(index % pool.count) * size, size);
}

std::span<const std::int32_t> BatchLabels(const data::BatchPool& pool, std::int64_t index) {
  const std::size_t size = pool.labels.size() / static_cast<std::size_t>(pool.count);
  return std::span(pool.labels).subspan(static_cast<std::size_t>(index % pool.count) * size, size);
}

reference::Masks BatchMasks(const data::BatchPool& pool, std::int64_t index) {
  reference::Masks masks;
  for (const auto& [node, mask] : pool.masks) {
    const std::size_t size = mask.size() / static_cast<std::size_t>(pool.count);
    masks[node] =
        std::span(mask).subspan(static_cast<std::size_t>(index % pool.count) * size, size);
  }
  return masks;
}

Result<Trajectory> RunReference(const network::Network& network, const reference::State& start,
                                const data::BatchPool& pool, const Sequence& sequence,
                                const Keep& keep, reference::Arithmetic arithmetic) {
  DLBENCH_ASSIGN_OR_RETURN(auto engine, reference::Engine::Create(network, pool.batch, arithmetic));
  engine->SetState(start);
  Trajectory trajectory;
  const auto keep_weights = [&](std::int64_t steps) {
    if (keep.weights_after.count(steps) == 0) return;
    trajectory.weights[steps] = engine->GetWeights();
    trajectory.buffers[steps] = engine->GetBuffers();
  };
  keep_weights(0);
  for (std::size_t i = 0; i < sequence.batches.size(); ++i) {
    const auto x = BatchInputs(pool, sequence.batches[i]);
    const auto labels = BatchLabels(pool, sequence.batches[i]);
    const bool first = i == 0 && keep.first_step;
    engine->SetMasks(BatchMasks(pool, sequence.batches[i]));
    if (first || keep.sampled_gradients) {
      reference::StepResult step = engine->Step(x, labels, sequence.learning_rates[i]);
      trajectory.losses.push_back(step.loss);
      if (keep.sampled_gradients) trajectory.sampled_gradients.push_back(Sample(step.gradients));
      if (first) {
        trajectory.logits = std::move(step.logits);
        trajectory.gradients = std::move(step.gradients);
      }
    } else {
      trajectory.losses.push_back(engine->Advance(x, labels, sequence.learning_rates[i]));
    }
    keep_weights(static_cast<std::int64_t>(i) + 1);
  }
  return trajectory;
}

}  // namespace dlbench::verify
