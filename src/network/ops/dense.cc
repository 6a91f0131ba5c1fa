#include <fmt/format.h>

#include "network/limits.h"
#include "network/ops/registry.h"

namespace dlbench::network {
namespace {

/// y = W x + b with W [units, inputs] (row-major) and b [units].
Result<Inference> Infer(const Attributes& attributes, const std::vector<Shape>& input_shapes) {
  const Shape& input = input_shapes.front();
  if (input.size() != 1) {
    return Error(ErrorCode::kInput,
                 fmt::format("dense takes one dimension, but its input has shape {}; flatten it "
                             "first",
                             ToString(input)));
  }
  const std::int64_t units = std::get<std::int64_t>(attributes.at("units"));
  const Shape weight{units, input[0]};
  const auto elements = CheckedElementCount(weight);
  if (!elements) {
    return Error(ErrorCode::kInput, fmt::format("the weight {} has more than {} elements; use "
                                                "fewer units",
                                                ToString(weight), kMaxTensorElements));
  }
  Inference inference;
  inference.output_shape = {units};
  inference.multiply_adds = *elements;
  inference.parameters.push_back({"weight", weight, ParameterSpec::Role::kWeight, input[0], units});
  if (std::get<bool>(attributes.at("bias"))) {
    inference.parameters.push_back({"bias", {units}, ParameterSpec::Role::kBias, input[0], units});
  }
  return inference;
}

}  // namespace

Op DenseOp() {
  return {"dense",
          1,
          {{"units", AttributeSpec::Kind::kInteger, 1, double{kMaxTensorElements}, {}},
           {"bias", AttributeSpec::Kind::kBoolean, 0, 0, {}}},
          Infer};
}

}  // namespace dlbench::network
