#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace dlbench::network {

/// Sizes, outermost first, in elements. Sample shapes leave the batch dimension out.
using Shape = std::vector<std::int64_t>;

/// Product of the sizes; 1 for an empty shape.
std::int64_t ElementCount(const Shape& shape);
/// "[64, 784]".
std::string ToString(const Shape& shape);

/// How a parameter tensor gets its first values. Drawn from integers only, so bit-equal everywhere.
struct Initializer {
  enum class Kind { kConstant, kUniform };
  Kind kind = Kind::kConstant;
  /// kConstant: the value. kUniform: half the width of (centre - value, centre + value).
  double value = 0.0;
  double centre = 0.0;  ///< Of kUniform; added in float32 to what is drawn around 0.
};

/// One trainable tensor in canonical layout: dense weight [out, in], bias [out], convolution OIHW.
struct Parameter {
  std::string name;  ///< Canonical, "<node>.weight" or "<node>.bias".
  Shape shape;
  Initializer initializer;
  bool decays = true;  ///< Whether the optimiser's weight decay applies to it.
};

/// One tensor that a node keeps from step to step and that no gradient changes: running statistics,
/// carried state. A reset gives every element `initial` again.
struct Buffer {
  std::string name;  ///< Canonical, "<node>.running_mean".
  Shape shape;       ///< Without the batch, also where there is one for each sample.
  double initial = 0.0;
  bool per_sample = false;  ///< Whether the tensor is [batch, shape...] instead of [shape...].
};

/// An attribute's value; every attribute of a resolved node is explicit.
using AttributeValue = std::variant<bool, std::int64_t, double, std::string, Shape>;

/// One operation of the resolved network, in execution order. docs/networks.md defines the ops.
/// Sample shapes: images [channels, height, width], token sequences [T], their features [T, D].
struct Node {
  std::string name;                 ///< Unique, as in the network file (with repeat index if any).
  std::string op;                   ///< "dense", "conv2d", "relu" ...
  std::vector<std::string> inputs;  ///< Names of earlier nodes, or "input".
  std::map<std::string, AttributeValue> attributes;
  Shape output_shape;  ///< Of one sample.
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  int line = 0;  ///< Where the network file defines it; 0 where it is built by hand.

  /// The integer attribute `key`; it must exist (the parser has checked).
  std::int64_t Int(const std::string& key) const;
  /// The boolean attribute `key`; it must exist.
  bool Bool(const std::string& key) const;
  /// The floating-point attribute `key`; it must exist.
  double Real(const std::string& key) const;
  /// The word `key` ("reset", "unbiased" ...); it must exist.
  const std::string& Text(const std::string& key) const;
  /// The list of integers `key`; it must exist. kernel and stride are [height, width], padding is
  /// [top, left, bottom, right].
  const Shape& List(const std::string& key) const;
};

/// The network's input and where its values come from.
struct Input {
  /// Numbers, or the ids 0 to vocabulary - 1 of words. Files of batches hold ids as I32; in memory
  /// both are float, which holds ids exactly (vocabularies end at 16,000,000, below 2^24).
  enum class Kind { kValues, kTokens };
  Kind kind = Kind::kValues;
  Shape shape;                  ///< Of one sample, for example {784}; of tokens {T}.
  std::int64_t vocabulary = 0;  ///< Number of different tokens; 0 for values.
  std::string dataset;          ///< Kind of data: "mnist", "synthetic" ...
  double scale = 1.0;           ///< x = scale * (raw - offset), in float32; not for tokens.
  double offset = 0.0;
};

/// Loss of a batch. softmax_cross_entropy takes logits [batch, classes] and integer labels [batch],
/// or [batch, T, classes] and [batch, T].
struct Loss {
  std::string kind = "softmax_cross_entropy";
  std::string reduction = "mean";  ///< "mean" or "sum" over the rows: batch, or batch * T.
  std::string input;               ///< Name of the node whose output are the logits.
};

/// SGD as PyTorch defines it: v <- momentum * v + (g + decay * w); w <- w - learning_rate * v;
/// v starts at 0. Nesterov: w <- w - learning_rate * (g + decay * w + momentum * v).
struct Optimizer {
  std::string kind = "sgd";
  double learning_rate = 0.0;
  double momentum = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
};

/// A network with every shape and attribute resolved: all that an engine or adapter needs.
struct Network {
  std::string name;     ///< "fcn-r".
  std::string variant;  ///< Empty for the network as defined.
  std::string title;    ///< "FCN-R": how sentences call it.
  std::string description;
  std::string source;  ///< Path of the network file, for messages; empty if built by hand.
  Input input;
  std::int64_t classes = 0;
  std::vector<Node> nodes;
  Loss loss;
  Optimizer optimizer;

  /// "alexnet-r-ceil": the name, with the variant if any, by which it is found.
  std::string FullName() const;
  /// All parameter tensors in execution order.
  std::vector<const Parameter*> Parameters() const;
  /// Number of trainable scalars.
  std::int64_t ParameterCount() const;
  /// All buffers in execution order.
  std::vector<const Buffer*> Buffers() const;
  /// Labels of one sample: T where the loss's input has shape [T, classes], else 1.
  std::int64_t LabelsPerSample() const;
};

}  // namespace dlbench::network
