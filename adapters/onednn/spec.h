#pragma once

#include <cstdint>
#include <vector>

namespace dlbench::onednn {

enum class Activation { kNone, kSigmoid, kTanh, kRelu };

/// SGD in the convention of docs/protocol.md; the learning rate comes with each step.
struct SgdRule {
  float momentum = 0.0F;
  float weight_decay = 0.0F;
  bool nesterov = false;
};

/// How oneDNN is used; README.md has the reasons.
enum class Preset {
  kDefault,     ///< Plain row-major weights, one primitive an operation.
  kRecommended  ///< Weights in the layout that is fastest, neighbours fused.
};

/// In which layout the weights [out, in] of products are stored, from step to step and for all
/// three products.
enum class WeightLayout {
  kAuto,     ///< As the preset does (LayoutFor in layers/product.h).
  kRows,     ///< Row-major, as in the files.
  kColumns,  ///< The transpose, row-major.
  kBlocked   ///< What oneDNN prefers for the forward product.
};

struct EngineOptions {
  std::int64_t batch = 0;
  int threads = 1;
  Preset preset = Preset::kDefault;
  WeightLayout layout = WeightLayout::kAuto;
};

/// What one step works on. Sequences are in file order: batch before time.
struct StepInput {
  const float* x = nullptr;                  ///< [batch, sample...]; null where tokens come in.
  const std::int32_t* tokens = nullptr;      ///< [batch, T].
  const std::int32_t* labels = nullptr;      ///< [batch] or [batch, T], each in [0, classes).
  std::vector<const std::uint8_t*> masks{};  ///< One a dropout, in the network's order.
  float learning_rate = 0.0F;
};

}  // namespace dlbench::onednn
