#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "network/cost.h"
#include "network/parse.h"

/// Whatever the file holds: an error with text, or a network whose costs and JSON can be had.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dlbench::network;
  const auto network =
      ParseNetwork(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.toml");
  if (!network) {
    if (network.error().message().rfind("fuzz.toml", 0) != 0) std::abort();
    return 0;
  }
  if (network->ParameterCount() <= 0 || ForwardMultiplyAdds(*network) < 0) std::abort();
  if (TrainingStepFlops(*network, 1 << 20) < 0) std::abort();
  if (ToProtocolJson(*network).empty()) std::abort();
  return 0;
}
