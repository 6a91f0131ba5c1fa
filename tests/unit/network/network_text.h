#pragma once

#include <cassert>
#include <string>

namespace dlbench::network {

/// A small valid network file; tests change one thing in it.
inline const std::string& ValidText() {
  static const std::string text = R"(format = 1
name = "small"
title = "Small"
description = "four inputs, three classes"
classes = 3

[input]
shape = [4]
dataset = "synthetic"
scale = 0.5
offset = 1

[initial]
weights = { distribution = "uniform_fan_in", gain = 2.0 }
biases = { distribution = "constant", value = 0.25 }

[[layers]]
name = "fc1"
op = "dense"
units = 5
bias = true

[[layers]]
name = "act1"
op = "tanh"

[[layers]]
name = "fc2"
op = "dense"
units = 3
bias = false
initial_weights = { distribution = "uniform", bound = 0.125 }

[loss]
kind = "softmax_cross_entropy"
reduction = "mean"
input = "fc2"

[optimizer]
kind = "sgd"
learning_rate = 0.1
momentum = 0.9
weight_decay = 0.01
decays = "weights"
nesterov = false
)";
  return text;
}

/// The valid file with the first `from` replaced by `to`.
inline std::string With(const std::string& from, const std::string& to) {
  std::string text = ValidText();
  const std::size_t at = text.find(from);
  assert(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// A file of two classes with these lines of [input], `layers` (inline tables, separated by commas)
/// and `more` after the defaults of [initial]. The layer "out" gives the logits.
inline std::string FileOf(const std::string& input, const std::string& layers,
                          const std::string& more = "") {
  return "format = 1\nname = \"n\"\ntitle = \"N\"\ndescription = \"d\"\nclasses = 2\nlayers = [ " +
         layers + R"( ]
[input]
dataset = "synthetic"
)" + input +
         R"(
[loss]
kind = "softmax_cross_entropy"
reduction = "mean"
input = "out"
[optimizer]
kind = "sgd"
learning_rate = 0.1
momentum = 0.9
weight_decay = 0.01
decays = "weights"
nesterov = false
[initial]
weights = { distribution = "uniform_fan_in", gain = 1.0 }
biases = { distribution = "constant", value = 0.25 }
)" + more;
}

inline constexpr const char* kLogits = R"({ name = "out", op = "dense", units = 2, bias = false })";

/// `layers` between images of `shape` and a dense layer.
inline std::string OfImages(const std::string& shape, const std::string& layers,
                            const std::string& more = "") {
  return FileOf("scale = 1.0\noffset = 0.0\nshape = " + shape,
                layers + R"(, { name = "flat", op = "flatten" }, )" + kLogits, more);
}

/// `layers` between vectors, or sequences of features, and a dense layer.
inline std::string OfValues(const std::string& shape, const std::string& layers,
                            const std::string& more = "") {
  return FileOf("scale = 1.0\noffset = 0.0\nshape = " + shape, layers + ", " + kLogits, more);
}

/// `layers` between sequences of 7 tokens of 11 and a dense layer.
inline std::string OfTokens(const std::string& layers, const std::string& more = "") {
  return FileOf("kind = \"tokens\"\nshape = [7]\nvocabulary = 11",
                layers + (layers.empty() ? "" : ", ") + kLogits, more);
}

}  // namespace dlbench::network
