#include "activation.h"
#include "add.h"
#include "batch_norm.h"
#include "convolution.h"
#include "dense.h"
#include "dropout.h"
#include "embedding.h"
#include "flatten.h"
#include "layer.h"
#include "lrn.h"
#include "lstm.h"
#include "pooling.h"
#include "subsample_pad.h"

namespace dlbench::onednn {
namespace {

using Maker = std::unique_ptr<Layer> (*)();

template <class T>
std::unique_ptr<Layer> Make() {
  return std::make_unique<T>();
}

const std::map<std::string, Maker>& Makers() {
  static const std::map<std::string, Maker> makers = {
      {"add", Make<AddLayer>},
      {"avg_pool2d", Make<PoolingLayer>},
      {"batch_norm", Make<BatchNormLayer>},
      {"conv2d", Make<ConvolutionLayer>},
      {"dense", Make<DenseLayer>},
      {"dropout", Make<DropoutLayer>},
      {"embedding", Make<EmbeddingLayer>},
      {"flatten", Make<FlattenLayer>},
      {"global_avg_pool", Make<PoolingLayer>},
      {"lrn", Make<LrnLayer>},
      {"lstm", Make<LstmLayer>},
      {"max_pool2d", Make<PoolingLayer>},
      {"relu", Make<ActivationLayer>},
      {"sigmoid", Make<ActivationLayer>},
      {"subsample_pad", Make<SubsamplePadLayer>},
      {"tanh", Make<ActivationLayer>},
  };
  return makers;
}

}  // namespace

std::unique_ptr<Layer> MakeLayer(const adapter::Node& node) {
  const auto found = Makers().find(node.op);
  if (found == Makers().end()) Refuse(node, "this operation is not built");
  return found->second();
}

std::vector<std::string> BuiltOps() {
  std::vector<std::string> ops;
  for (const auto& [op, maker] : Makers()) ops.push_back(op);
  return ops;
}

}  // namespace dlbench::onednn
