// Any bytes as CIFAR-10's binary version, plain or gzip: what is accepted must be whole records.
#include <cstdint>
#include <cstdlib>

#include "data/cifar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto content = dlbench::data::ParseCifar10(std::as_bytes(std::span(data, size)));
  if (!content.ok()) return 0;
  const auto records = static_cast<std::size_t>(content->records);
  if (content->labels.size() != records || content->pixels.size() != records * 3072) std::abort();
  for (const char label : content->labels) {
    if (static_cast<unsigned char>(label) > 9) std::abort();
  }
  return 0;
}
