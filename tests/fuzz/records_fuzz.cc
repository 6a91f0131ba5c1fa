#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "measure/measure.h"

/// Any blob is refused or comes back bit for bit, and its records can be summarised or are refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view blob(reinterpret_cast<const char*>(data), size);
  const auto records = dlbench::measure::DecodeRecords(blob);
  if (!records) return 0;
  if (dlbench::measure::EncodeRecords(*records) != blob) std::abort();
  const auto summary = dlbench::measure::Summarize(*records);
  if (summary && !(summary->min_step_seconds > 0.0)) std::abort();
  return 0;
}
