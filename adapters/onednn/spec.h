#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dlbench::onednn {

enum class Activation { kNone, kSigmoid, kTanh, kRelu };

/// One layer of a chain: a dense layer or an activation by itself.
struct LayerSpec {
  std::string name;
  Activation activation = Activation::kNone;  ///< kNone: this is a dense layer.
  std::int64_t units = 0;                     ///< Width of a dense layer's output.
  bool has_bias = true;
  bool weight_decays = true;  ///< Whether weight decay applies to the weight.
  bool bias_decays = true;    ///< Whether weight decay applies to the bias.
};

/// SGD in the convention of docs/protocol.md; the learning rate comes with each step.
struct SgdRule {
  float momentum = 0.0F;
  float weight_decay = 0.0F;
  bool nesterov = false;
};

/// A chain of layers with a softmax cross-entropy on the last one's output.
struct NetworkSpec {
  std::int64_t input_width = 0;
  std::vector<LayerSpec> layers;
  bool mean_loss = true;  ///< False: the sum over the batch.
  SgdRule sgd;
};

/// How oneDNN is used; README.md has the reasons.
enum class Preset {
  kDefault,     ///< Plain row-major weights, one primitive an operation.
  kRecommended  ///< Weights in the layout that is fastest, activations fused into the products.
};

/// In which layout the weights [out, in] are stored, from step to step and for all three products.
enum class WeightLayout {
  kAuto,     ///< As the preset does (LayoutFor in dense.h).
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

}  // namespace dlbench::onednn
