#include <cstdint>
#include <cstdlib>
#include <string>

#include "store/column_text.h"

/// Any text is refused as JSON or read; what was read can be written and read again; any log is cut
/// to its limit and stays valid.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dlbench::store;  // NOLINT: the whole file is about it.
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto map = TextMapFromJson(text); map.ok()) {
    const auto again = TextMapFromJson(ToJson(*map));
    if (!again.ok() || *again != *map) std::abort();
  }
  if (const auto list = TextListFromJson(text); list.ok()) {
    const auto again = TextListFromJson(ToJson(*list));
    if (!again.ok() || *again != *list) std::abort();
  }
  static_cast<void>(NumberMapFromJson(text).ok());
  const std::string log = CutLog(text);
  if (log.size() > kLogLimitBytes || CutLog(log) != log) std::abort();
  return 0;
}
