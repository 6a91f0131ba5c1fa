#include <fmt/format.h>

#include "network/limits.h"
#include "network/ops/registry.h"

namespace dlbench::network {
namespace {

using Kind = AttributeSpec::Kind;
using Role = ParameterSpec::Role;

constexpr const char* kRemedy = "use fewer units";
/// Four gates of more would not fit a tensor.
constexpr double kMaxUnits = 1 << 24;

Result<Inference> InferEmbedding(const Attributes& attributes,
                                 const std::vector<LayerInput>& inputs) {
  const LayerInput& tokens = inputs.front();
  const std::int64_t units = std::get<std::int64_t>(attributes.at("units"));
  const Shape weight{tokens.vocabulary, units};
  Inference inference = OutputOnly({ElementCount(tokens.shape), units});
  DLBENCH_RETURN_IF_ERROR(CheckElements(weight, kRemedy));
  DLBENCH_RETURN_IF_ERROR(CheckElements(inference.output_shape, kRemedy));
  inference.parameters = {{"weight", weight, Role::kWeight, units, tokens.vocabulary}};
  return inference;
}

Result<Inference> InferLstm(const Attributes& attributes, const std::vector<LayerInput>& inputs) {
  const Shape& sequence = inputs.front().shape;
  if (sequence.size() != 2) {
    return Error(ErrorCode::kInput,
                 fmt::format("it takes sequences [T, features], but its input has shape {}",
                             ToString(sequence)));
  }
  const std::int64_t units = std::get<std::int64_t>(attributes.at("units"));
  const Shape weight_ih{4 * units, sequence[1]};
  const Shape weight_hh{4 * units, units};
  Inference inference = OutputOnly({sequence[0], units});
  for (const Shape& shape : {weight_ih, weight_hh, inference.output_shape}) {
    DLBENCH_RETURN_IF_ERROR(CheckElements(shape, kRemedy));
  }
  // Each factor is below 2^31, so the sum of the products is below 2^63.
  inference.input_gradient_multiply_adds = sequence[0] * ElementCount(weight_ih);
  inference.multiply_adds =
      inference.input_gradient_multiply_adds + sequence[0] * ElementCount(weight_hh);
  inference.parameters = {{"weight_ih", weight_ih, Role::kWeight, units, units},
                          {"weight_hh", weight_hh, Role::kWeight, units, units},
                          {"bias", {4 * units}, Role::kBias, units, units}};
  if (std::get<std::string>(attributes.at("state")) == "carried") {
    inference.buffers = {{"hidden", {units}, 0.0, true}, {"cell", {units}, 0.0, true}};
  }
  return inference;
}

}  // namespace

/// Row `id` of the weight [vocabulary, units] for each token: [T] gives [T, units].
Op EmbeddingOp() {
  return {"embedding",
          1,
          {{"units", Kind::kInteger, 1, double{kMaxTensorElements}, {}, 0}},
          InferEmbedding,
          true};
}

/// For each token t: the four blocks i, f, g, o of weight_ih x[t] + weight_hh h[t-1] + bias, in
/// this order; c[t] = sigmoid(f) c[t-1] + sigmoid(i) tanh(g); h[t] = sigmoid(o) tanh(c[t]). One
/// bias. `state` "reset": h and c start at 0 in each batch; "carried": where the batch before
/// ended, with no gradient into it. Source: Hochreiter and Schmidhuber 1997 with Gers' forget gate,
/// as torch.nn.LSTM.
Op LstmOp() {
  return {"lstm",
          1,
          {{"units", Kind::kInteger, 1, kMaxUnits, {}, 0},
           {"state", Kind::kChoice, 0, 0, {"reset", "carried"}, 0}},
          InferLstm};
}

}  // namespace dlbench::network
