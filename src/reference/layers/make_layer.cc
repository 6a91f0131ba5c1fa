#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

template <class Scalar>
LayerPtr<Scalar> MakeElementwise(const LayerSource& source) {
  const std::string& op = source.node->op;
  if (op == "sigmoid") return MakeSigmoid<Scalar>();
  if (op == "tanh") return MakeTanh<Scalar>();
  if (op == "relu") return MakeRelu<Scalar>();
  if (op == "dropout") return MakeDropout<Scalar>(source);
  if (op == "flatten") return MakeFlatten<Scalar>();
  if (op == "add") return MakeAdd<Scalar>();
  return nullptr;
}

Error Unfit(const LayerSource& source, const std::string& what) {
  return Error(ErrorCode::kInput, "node '" + source.node->name + "': " + what);
}

}  // namespace

template <class Scalar>
ParameterTensor<Scalar> TensorFor(const network::Parameter& parameter) {
  const std::int64_t rows = parameter.shape.size() > 1 ? parameter.shape[0] : 1;
  const Matrix<Scalar> zeros(rows, network::ElementCount(parameter.shape) / rows);
  return {parameter.name, parameter.decays, zeros, zeros, zeros};
}

template <class Scalar>
BufferTensor<Scalar> TensorFor(const network::Buffer& buffer, std::int64_t batch) {
  Matrix<Scalar> values(buffer.per_sample ? batch : 1, network::ElementCount(buffer.shape));
  for (Scalar& value : values.values) value = static_cast<Scalar>(buffer.initial);
  return {buffer.name, buffer.initial, values, values};
}

Status CheckParameters(const LayerSource& source, const std::vector<network::Shape>& expected,
                       const std::string& what) {
  bool fits = source.node->parameters.size() == expected.size();
  for (std::size_t i = 0; fits && i < expected.size(); ++i) {
    fits = source.node->parameters[i].shape == expected[i];
  }
  if (fits) return {};
  std::string shapes;
  for (const network::Shape& shape : expected) {
    shapes += (shapes.empty() ? "" : ", ") + network::ToString(shape);
  }
  return Unfit(source, what + " needs parameters of the shapes " + shapes);
}

Status CheckOutput(const LayerSource& source, const network::Shape& expected) {
  if (source.node->output_shape == expected) return {};
  return Unfit(source, source.node->op + " gives the shape " + network::ToString(expected) +
                           ", not " + network::ToString(source.node->output_shape));
}

template <class Scalar>
Result<LayerPtr<Scalar>> MakeLayer(const LayerSource& source, Sums<Scalar>& sums) {
  const network::Node& node = *source.node;
  const std::size_t wanted = node.op == "add" ? 2 : 1;
  if (node.inputs.size() != wanted) {
    return Error(ErrorCode::kUnsupported, "node '" + node.name + "': the reference has no " +
                                              node.op + " with " +
                                              std::to_string(node.inputs.size()) + " inputs");
  }
  if (node.op == "dense") return MakeDense<Scalar>(source, sums);
  if (node.op == "conv2d") return MakeConv2d<Scalar>(source, sums);
  if (node.op == "max_pool2d" || node.op == "avg_pool2d") return MakePool2d<Scalar>(source, sums);
  if (node.op == "global_avg_pool") return MakeGlobalAvgPool<Scalar>(source, sums);
  if (node.op == "lrn") return MakeLrn<Scalar>(source, sums);
  if (node.op == "batch_norm") return MakeBatchNorm<Scalar>(source, sums);
  if (node.op == "embedding") return MakeEmbedding<Scalar>(source, sums);
  if (node.op == "lstm") return MakeLstm<Scalar>(source, sums);
  if (node.op == "subsample_pad") return MakeSubsamplePad<Scalar>(source);
  auto layer = MakeElementwise<Scalar>(source);
  if (layer == nullptr) {
    return Error(ErrorCode::kUnsupported,
                 "node '" + node.name + "': the reference has no op '" + node.op + "'");
  }
  for (const network::Shape& shape : source.input_shapes) {
    const bool same = node.op == "flatten"
                          ? node.output_shape == network::Shape{network::ElementCount(shape)}
                          : node.output_shape == shape;
    if (same) continue;
    return Unfit(source, node.op + " of " + network::ToString(shape) + " cannot have the shape " +
                             network::ToString(node.output_shape));
  }
  return layer;
}

template ParameterTensor<float> TensorFor(const network::Parameter&);
template ParameterTensor<double> TensorFor(const network::Parameter&);
template BufferTensor<float> TensorFor(const network::Buffer&, std::int64_t);
template BufferTensor<double> TensorFor(const network::Buffer&, std::int64_t);
template Result<LayerPtr<float>> MakeLayer(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakeLayer(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
