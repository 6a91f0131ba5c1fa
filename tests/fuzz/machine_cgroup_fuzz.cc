#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "machine/cgroup.h"
#include "machine/disturbance.h"

/// Limits are absent or above zero, whatever the files hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace dlbench::machine;
  const auto quota = ParseCpuMax(text);
  if (quota.ok() && *quota && !(**quota > 0)) std::abort();
  const std::size_t half = size / 2;
  const auto v1 = ParseCfsQuota(text.substr(0, half), text.substr(half));
  if (v1.ok() && *v1 && !(**v1 > 0)) std::abort();
  (void)ParseMemoryLimit(text).ok();
  (void)ParseThrottled(text);
  (void)ParseMounts(text);
  const auto busy = ParseBusySeconds(text, 100);
  if (busy && !(*busy >= 0)) std::abort();
  return 0;
}
