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
  enum class Kind { kInteger, kReal, kBoolean, kChoice };
  std::string name;
  Kind kind = Kind::kInteger;
  double minimum = 0.0;  ///< Of integers and reals.
  double maximum = 0.0;
  std::vector<std::string> choices;  ///< Of kChoice.
};

/// A trainable tensor that a layer of an op has.
struct ParameterSpec {
  enum class Role { kWeight, kBias };
  std::string suffix;  ///< "weight": the tensor is "<node>.weight".
  Shape shape;
  Role role = Role::kWeight;
  std::int64_t fan_in = 0;  ///< Inputs that one output adds up; of a bias, those of its weight.
  std::int64_t fan_out = 0;
};

/// What follows from a layer's attributes and input shapes.
struct Inference {
  Shape output_shape;  ///< Of one sample.
  std::vector<ParameterSpec> parameters;
  std::int64_t multiply_adds = 0;  ///< Forward, one sample; additions of biases do not count.
};

/// One kind of layer. Adding one: a file beside this, its line in registry.cc and in
/// CMakeLists.txt.
struct Op {
  std::string name;
  std::size_t inputs = 1;
  std::vector<AttributeSpec> attributes;
  /// Attributes are complete and within their ranges, input shapes as many as `inputs` and valid.
  /// The error says which shapes do not fit.
  Result<Inference> (*infer)(const Attributes& attributes, const std::vector<Shape>& input_shapes);
};

/// All ops, by name.
const std::map<std::string, Op>& AllOps();
/// Null where there is no such op.
const Op* FindOp(std::string_view name);

}  // namespace dlbench::network
