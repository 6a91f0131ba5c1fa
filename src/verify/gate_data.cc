#include "verify/gate_data.h"

#include <algorithm>
#include <utility>

#include "data/safetensors.h"

namespace dlbench::verify {
namespace {

/// The tensor `name` of `file` if it is float32 and has `shape`.
Result<std::vector<float>> LoadTensor(const data::SafetensorsFile& file, const std::string& name,
                                      const network::Shape& shape, const std::string& what) {
  const data::TensorView* view = file.Find(name);
  if (view == nullptr) {
    return Error(ErrorCode::kFailed, what + ": the tensor '" + name + "' is missing");
  }
  if (view->dtype != data::DType::kF32) {
    return Error(ErrorCode::kFailed, what + ": the tensor '" + name + "' is " +
                                         data::ToString(view->dtype) + ", expected F32");
  }
  if (view->shape != shape) {
    return Error(ErrorCode::kFailed, what + ": the tensor '" + name + "' has shape " +
                                         network::ToString(view->shape) + ", expected " +
                                         network::ToString(shape));
  }
  const auto values = view->f32();
  return std::vector<float>(values.begin(), values.end());
}

}  // namespace

Result<std::map<std::string, std::vector<float>>> LoadParameters(const network::Network& network,
                                                                 const std::filesystem::path& path,
                                                                 const std::string& what) {
  DLBENCH_ASSIGN_OR_RETURN(const data::SafetensorsFile file, data::SafetensorsFile::Open(path));
  std::map<std::string, std::vector<float>> tensors;
  for (const network::Parameter* parameter : network.Parameters()) {
    DLBENCH_ASSIGN_OR_RETURN(tensors[parameter->name],
                             LoadTensor(file, parameter->name, parameter->shape, what));
  }
  return tensors;
}

Result<std::map<std::string, std::vector<float>>> LoadBuffers(const network::Network& network,
                                                              std::int64_t batch,
                                                              const std::filesystem::path& path,
                                                              const std::string& what) {
  std::map<std::string, std::vector<float>> tensors;
  const auto buffers = network.Buffers();
  if (buffers.empty()) return tensors;
  DLBENCH_ASSIGN_OR_RETURN(const data::SafetensorsFile file, data::SafetensorsFile::Open(path));
  for (const network::Buffer* buffer : buffers) {
    network::Shape shape = buffer->shape;
    if (buffer->per_sample) shape.insert(shape.begin(), batch);
    DLBENCH_ASSIGN_OR_RETURN(tensors[buffer->name], LoadTensor(file, buffer->name, shape, what));
  }
  return tensors;
}

std::map<std::string, std::vector<float>> InitialBuffers(const network::Network& network,
                                                         std::int64_t batch) {
  std::map<std::string, std::vector<float>> tensors;
  for (const network::Buffer* buffer : network.Buffers()) {
    const std::int64_t count =
        network::ElementCount(buffer->shape) * (buffer->per_sample ? batch : 1);
    tensors[buffer->name].assign(static_cast<std::size_t>(count),
                                 static_cast<float>(buffer->initial));
  }
  return tensors;
}

Result<std::vector<float>> LoadLogits(const network::Network& network, std::int64_t batch,
                                      const std::filesystem::path& path) {
  DLBENCH_ASSIGN_OR_RETURN(const data::SafetensorsFile file, data::SafetensorsFile::Open(path));
  network::Shape shape = {batch, network.classes};
  // Tokens have logits each, also where a sequence is one token long.
  if (network.input.kind == network::Input::Kind::kTokens) {
    shape.insert(shape.begin() + 1, network.LabelsPerSample());
  }
  return LoadTensor(file, "logits", shape, "logits");
}

std::vector<double> DerivedGradient(const network::Optimizer& optimizer, bool decays, double rate,
                                    std::span<const double> before, std::span<const double> after) {
  // From zero velocity the first move is rate * g, and rate * (1 + momentum) * g with Nesterov.
  const double gain = rate * (optimizer.nesterov ? 1.0 + optimizer.momentum : 1.0);
  const double decay = decays ? optimizer.weight_decay : 0.0;
  std::vector<double> gradient(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    gradient[i] = (before[i] - after[i]) / gain - decay * before[i];
  }
  return gradient;
}

Situation FirstSituation(const GateData& data, std::int64_t samples) {
  const data::BatchPool& pool = *data.gate_case.pool;
  const std::int64_t batch = data.sequence.batches.front();
  const auto kept = static_cast<std::size_t>(std::min(samples, pool.batch));
  const auto labels = BatchLabels(pool, batch)
                          .first(kept * static_cast<std::size_t>(data.network().LabelsPerSample()));
  const auto x = BatchInputs(pool, batch);
  const std::size_t width = x.size() / static_cast<std::size_t>(pool.batch);
  Situation situation;
  situation.network = std::make_shared<const network::Network>(data.network());
  situation.weights = std::make_shared<const Tensors>(data.start.weights);
  situation.x.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(kept * width));
  situation.labels.assign(labels.begin(), labels.end());
  for (const auto& [node, mask] : BatchMasks(pool, batch)) {
    const std::size_t size = mask.size() / static_cast<std::size_t>(pool.batch) * kept;
    situation.masks[node].assign(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return situation;
}

}  // namespace dlbench::verify
