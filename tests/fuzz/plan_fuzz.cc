#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "experiment/plan.h"

/// Any text is refused with its file's name, or gives a plan that passes its own check and has an
/// identity.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = dlbench::experiment::ParsePlan(text, "fuzz.toml");
  if (!plan.ok()) {
    if (plan.error().message().rfind("fuzz.toml", 0) != 0) std::abort();
    return 0;
  }
  if (!dlbench::experiment::CheckPlan(*plan).ok()) std::abort();
  if (dlbench::experiment::ToJson(*plan).empty()) std::abort();
  return 0;
}
