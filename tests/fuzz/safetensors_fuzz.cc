// Any bytes as a safetensors file: every tensor that is accepted must lie inside them.
#include <cstdint>
#include <cstdlib>

#include "data/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto content = dlbench::data::ParseSafetensors(file);
  if (!content.ok()) return 0;
  std::size_t covered = 0;
  for (const auto& [name, view] : content->tensors) {
    for (const std::byte& byte : view.bytes) covered += &byte >= file.data() ? 1 : 0;
    const auto count = static_cast<std::size_t>(view.count());
    if (count * dlbench::data::SizeOf(view.dtype) != view.bytes.size()) std::abort();
  }
  if (covered > size) std::abort();
  return 0;
}
