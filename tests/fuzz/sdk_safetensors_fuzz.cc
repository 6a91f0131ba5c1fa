// The SDK's safetensors reader: every view it returns must lie inside the image.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "dlbench_adapter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly this size, aligned as a mapped file is, so that the sanitizer sees its end.
  std::vector<std::byte> image(size);
  if (size > 0) std::memcpy(image.data(), data, size);
  try {
    for (const auto& [name, view] : dlbench::adapter::ParseSafetensors(image.data(), size)) {
      unsigned sum = 0;
      for (std::size_t i = 0; i < view.bytes; ++i) sum += static_cast<unsigned>(view.data[i]);
      volatile unsigned used = sum;
      (void)used;
    }
  } catch (const std::runtime_error&) {
  }
  return 0;
}
