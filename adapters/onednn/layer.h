#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "buffer.h"
#include "primitive_call.h"
#include "sgd.h"
#include "spec.h"

namespace dlbench::onednn {

/// What all layers share. Strict float32 and scratchpads of the engine's own.
struct Context {
  dnnl::engine engine;
  dnnl::stream stream;
  std::int64_t batch = 0;
  int threads = 1;
  Preset preset = Preset::kDefault;
  WeightLayout layout = WeightLayout::kAuto;

  dnnl::primitive_attr Attributes() const;
  /// The row-major matrix [rows, columns].
  static dnnl::memory::desc Matrix(std::int64_t rows, std::int64_t columns);
};

/// A trainable tensor with its gradient and velocity, all three in one layout.
struct Parameter {
  std::string name;                 ///< "fc1.weight".
  std::vector<std::int64_t> shape;  ///< Canonical: weight [out, in], bias [out].
  bool decays = true;
  dnnl::memory::desc canonical;             ///< Row-major.
  dnnl::memory values, gradient, velocity;  ///< `velocity` is empty without momentum.
  std::vector<Buffer> storage;              ///< Memory of the three.
  std::int64_t stored_elements = 0;         ///< Of each, with the layout's padding, which stays 0.
};

/// Batch matrices between which a layer works; `input_gradient` is empty where none is needed.
struct LayerMatrices {
  dnnl::memory input, output, input_gradient, output_gradient;
};

/// One step of the chain with everything planned. Not thread-safe.
class Layer {
 public:
  virtual ~Layer() = default;
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  virtual void Forward(const Context& context) = 0;
  /// From the gradient of the output to those of the parameters and of the input.
  virtual void Backward(const Context& context) = 0;
  /// The parameters in canonical order; empty for an activation.
  virtual std::vector<Parameter>& parameters() { return parameters_; }
  /// All calls, for planning the scratchpad.
  virtual std::vector<PrimitiveCall*> calls() = 0;
  /// Implementations and layouts, for the record; keys start with the layer's name.
  virtual void Describe(std::map<std::string, std::string>& settings) const = 0;

 protected:
  std::vector<Parameter> parameters_;
};

/// oneDNN's algorithm for `activation`, whose derivative needs the result only.
dnnl::algorithm EltwiseAlgorithm(Activation activation);

}  // namespace dlbench::onednn
