#include "experiment/conformance_tensors.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/text.h"
#include "data/safetensors.h"

namespace dlbench::experiment {
namespace {

std::string FaultOfTensor(const data::SafetensorsFile& file, const std::string& name,
                          const network::Shape& shape) {
  const data::TensorView* tensor = file.Find(name);
  if (tensor == nullptr) return "there is no tensor '" + name + "'";
  if (tensor->dtype != data::DType::kF32) {
    return fmt::format("'{}' is {}, not F32", name, data::ToString(tensor->dtype));
  }
  if (tensor->shape != shape) {
    return fmt::format("'{}' has the shape {}, not {}", name, network::ToString(tensor->shape),
                       network::ToString(shape));
  }
  const auto values = tensor->f32();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return "";
  return fmt::format("element {} of '{}' is not finite", bad - values.begin(), name);
}

}  // namespace

std::string FaultOfParameters(const std::filesystem::path& file, const network::Network& network) {
  const auto opened = data::SafetensorsFile::Open(file);
  if (!opened.ok()) return opened.error().message();
  const auto parameters = network.Parameters();
  for (const network::Parameter* parameter : parameters) {
    std::string fault = FaultOfTensor(*opened, parameter->name, parameter->shape);
    if (!fault.empty()) return fault;
  }
  if (opened->tensors().size() == parameters.size()) return "";
  return fmt::format("it holds {} tensors, the network has {} parameters", opened->tensors().size(),
                     parameters.size());
}

std::string FaultOfLogits(const std::filesystem::path& file, const network::Network& network,
                          std::int64_t batch) {
  const auto opened = data::SafetensorsFile::Open(file);
  if (!opened.ok()) return opened.error().message();
  return FaultOfTensor(*opened, "logits", {batch, network.classes});
}

bool SameParameters(const std::filesystem::path& a, const std::filesystem::path& b,
                    const network::Network& network) {
  const auto first = data::SafetensorsFile::Open(a);
  const auto second = data::SafetensorsFile::Open(b);
  if (!first.ok() || !second.ok()) return false;
  for (const network::Parameter* parameter : network.Parameters()) {
    const data::TensorView* left = first->Find(parameter->name);
    const data::TensorView* right = second->Find(parameter->name);
    if (left == nullptr || right == nullptr) return false;
    if (!std::equal(left->bytes.begin(), left->bytes.end(), right->bytes.begin(),
                    right->bytes.end())) {
      return false;
    }
  }
  return true;
}

std::string ParameterChecksum(const std::filesystem::path& file, const network::Network& network) {
  const auto opened = data::SafetensorsFile::Open(file);
  if (!opened.ok()) return "";
  uLong checksum = ::crc32_z(0, nullptr, 0);
  for (const network::Parameter* parameter : network.Parameters()) {
    const data::TensorView* tensor = opened->Find(parameter->name);
    if (tensor == nullptr) return "";
    // zlib's bytes are unsigned char; std::byte has the same representation.
    checksum = ::crc32_z(checksum, reinterpret_cast<const Bytef*>(tensor->bytes.data()),
                         tensor->bytes.size());
  }
  return fmt::format("crc32:{:08x}", checksum);
}

}  // namespace dlbench::experiment
