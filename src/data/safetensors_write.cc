#include <nlohmann/json.hpp>

#include "core/text.h"
#include "data/safetensors.h"
#include "network/network.h"

namespace dlbench::data {
namespace {

using nlohmann::ordered_json;

// The data start at a multiple of this, so that every element can be read in place.
constexpr std::size_t kAlignment = 8;

Error Bad(const TensorView& tensor, const std::string& what) {
  return Error(ErrorCode::kInput, "tensor '" + Printable(tensor.name) + "': " + what);
}

Result<ordered_json> MakeHeader(std::span<const TensorView> tensors,
                                const std::map<std::string, std::string>& metadata) {
  ordered_json header = ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const auto& tensor : tensors) {
    if (header.contains(tensor.name) || tensor.name == "__metadata__") {
      return Bad(tensor, "the name is taken; every tensor of a file needs its own");
    }
    if (static_cast<std::uint64_t>(tensor.count()) * SizeOf(tensor.dtype) != tensor.bytes.size()) {
      return Bad(tensor, "its " + std::to_string(tensor.bytes.size()) +
                             " bytes do not fit the shape " + network::ToString(tensor.shape));
    }
    const std::uint64_t end = offset + tensor.bytes.size();
    header[tensor.name] = {{"dtype", ToString(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  return header;
}

void AppendLength(std::string& file, std::uint64_t length) {
  for (int shift = 0; shift < 64; shift += 8) file += static_cast<char>((length >> shift) & 0xFF);
}

}  // namespace

Status WriteSafetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                        const std::map<std::string, std::string>& metadata) {
  auto header = MakeHeader(tensors, metadata);
  if (!header.ok()) return header.error().WithContext("writing '" + path.string() + "'");
  // Names that are not UTF-8 cannot stand in JSON; they are replaced, never thrown at.
  std::string text = header->dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  while (text.size() % kAlignment != 0) text += ' ';
  std::string file;
  std::size_t data_bytes = 0;
  for (const auto& tensor : tensors) data_bytes += tensor.bytes.size();
  file.reserve(kAlignment + text.size() + data_bytes);
  AppendLength(file, text.size());
  file += text;
  for (const auto& tensor : tensors) {
    file.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  return WriteFileAtomically(path, file);
}

}  // namespace dlbench::data
