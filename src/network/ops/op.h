#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "network/network.h"

namespace dlbench::network {

using Attributes = std::map<std::string, AttributeValue>;

/// What the network file must say about a layer of some op. There are no defaults.
struct AttributeSpec {
  enum class Kind { kInteger, kReal, kBoolean, kChoice, kIntegers };
  std::string name;
  Kind kind = Kind::kInteger;
  double minimum = 0.0;  ///< Of integers and reals, also in a list.
  double maximum = 0.0;
  std::vector<std::string> choices;  ///< Of kChoice.
  std::size_t length = 0;            ///< Of kIntegers.
};

/// A trainable tensor that a layer of an op has.
struct ParameterSpec {
  enum class Role { kWeight, kBias, kScale };
  std::string suffix;  ///< "weight": the tensor is "<node>.weight".
  Shape shape;
  Role role = Role::kWeight;
  std::int64_t fan_in = 0;  ///< Inputs that one output adds up; of a bias, those of its weight.
  std::int64_t fan_out = 0;
};

/// A tensor that a layer of an op keeps from step to step.
struct BufferSpec {
  std::string suffix;
  Shape shape;
  double initial = 0.0;
  bool per_sample = false;
};

/// What a layer reads.
struct LayerInput {
  Shape shape;                  ///< Of one sample.
  std::int64_t vocabulary = 0;  ///< Above 0: these are ids of so many tokens, not numbers.
};

/// What follows from a layer's attributes and inputs.
struct Inference {
  Shape output_shape;  ///< Of one sample.
  std::vector<ParameterSpec> parameters;
  std::vector<BufferSpec> buffers;
  std::int64_t multiply_adds = 0;  ///< Forward, one sample; additions of biases do not count.
  /// Those of the backward pass that only the gradient of the layer's input needs.
  std::int64_t input_gradient_multiply_adds = 0;
};

/// Of an op that trains nothing and whose multiply-adds do not count.
Inference OutputOnly(Shape output_shape);
/// kInput unless `shape` is [channels, height, width].
Status CheckImage(const Shape& shape);
/// kInput if a tensor of this shape has more than kMaxTensorElements elements or a size that is not
/// positive; the message ends with `remedy`: "use fewer units".
Status CheckElements(const Shape& shape, const char* remedy);

/// One kind of layer. Adding one: a file beside this, its line in registry.cc and in
/// CMakeLists.txt.
struct Op {
  std::string name;
  std::size_t inputs = 1;
  std::vector<AttributeSpec> attributes;
  /// Attributes are complete and within their ranges, inputs as many as `inputs`, their shapes
  /// valid.
  /// The error says which shapes do not fit.
  Result<Inference> (*infer)(const Attributes& attributes, const std::vector<LayerInput>& inputs);
  bool takes_tokens = false;  ///< Whether its input are token ids.
};

/// All ops, by name.
const std::map<std::string, Op>& AllOps();
/// Null where there is no such op.
const Op* FindOp(std::string_view name);

}  // namespace dlbench::network
