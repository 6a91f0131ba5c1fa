#include <fmt/format.h>

#include "network/limits.h"
#include "network/ops/registry.h"

namespace dlbench::network {
namespace {

using Kind = AttributeSpec::Kind;
using Role = ParameterSpec::Role;

constexpr const char* kRemedy = "use fewer units";

Result<Inference> Infer(const Attributes& attributes, const std::vector<LayerInput>& inputs) {
  const Shape& input = inputs.front().shape;
  if (input.size() > 2) {
    return Error(ErrorCode::kInput,
                 fmt::format("dense takes vectors [N] or sequences [T, features], but its input "
                             "has shape {}; flatten it first",
                             ToString(input)));
  }
  const std::int64_t units = std::get<std::int64_t>(attributes.at("units"));
  const Shape weight{units, input.back()};
  Inference inference = OutputOnly(input);
  inference.output_shape.back() = units;
  DLBENCH_RETURN_IF_ERROR(CheckElements(weight, kRemedy));
  DLBENCH_RETURN_IF_ERROR(CheckElements(inference.output_shape, kRemedy));
  // Both factors are below 2^31.
  inference.multiply_adds = ElementCount(weight) * (input.size() == 2 ? input.front() : 1);
  inference.input_gradient_multiply_adds = inference.multiply_adds;
  inference.parameters.push_back({"weight", weight, Role::kWeight, input.back(), units});
  if (std::get<bool>(attributes.at("bias"))) {
    inference.parameters.push_back({"bias", {units}, Role::kBias, input.back(), units});
  }
  return inference;
}

}  // namespace

/// y = W x + b with W [units, inputs] (row-major) and b [units]; of a sequence [T, inputs] for each
/// of its T rows.
Op DenseOp() {
  return {"dense",
          1,
          {{"units", Kind::kInteger, 1, double{kMaxTensorElements}, {}, 0},
           {"bias", Kind::kBoolean, 0, 0, {}, 0}},
          Infer};
}

}  // namespace dlbench::network
