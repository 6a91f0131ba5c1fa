// The SDK's JSON reader: what it takes it must write and take again, unchanged.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "dlbench_adapter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using dlbench::adapter::Json;
  std::string once;
  try {
    once = Json::Parse(std::string_view(reinterpret_cast<const char*>(data), size)).Dump();
  } catch (const std::runtime_error&) {
    return 0;
  }
  if (Json::Parse(once).Dump() != once) std::abort();
  return 0;
}
