#include "data/dataset.h"
#include "data/random.h"
#include "data/safetensors.h"

namespace dlbench::data {

std::map<std::string, std::vector<float>> InitialWeights(const network::Network& network,
                                                         std::uint64_t seed) {
  std::map<std::string, std::vector<float>> weights;
  for (const network::Parameter* parameter : network.Parameters()) {
    const auto& initializer = parameter->initializer;
    auto& values = weights[parameter->name];
    values.resize(static_cast<std::size_t>(network::ElementCount(parameter->shape)));
    if (initializer.kind == network::Initializer::Kind::kUniform) {
      NamedStream(seed, parameter->name).FillUniform(values, initializer.value);
      const auto centre = static_cast<float>(initializer.centre);
      if (centre != 0.0F) {
        for (float& value : values) value += centre;
      }
    } else {
      values.assign(values.size(), static_cast<float>(initializer.value));
    }
  }
  return weights;
}

Status WriteWeights(const network::Network& network,
                    const std::map<std::string, std::vector<float>>& weights,
                    const std::filesystem::path& path) {
  std::vector<TensorView> tensors;
  for (const network::Parameter* parameter : network.Parameters()) {
    const auto found = weights.find(parameter->name);
    if (found == weights.end()) {
      return Error(ErrorCode::kInternal, "no weights for parameter '" + parameter->name + "'");
    }
    tensors.push_back(
        ViewOf(parameter->name, parameter->shape, std::span<const float>(found->second)));
  }
  return WriteSafetensors(path, tensors);
}

}  // namespace dlbench::data
