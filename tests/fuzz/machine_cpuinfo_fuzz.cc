#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "machine/cpu.h"
#include "machine/peaks_here.h"

/// Lists are sorted without duplicates; nothing crashes on foreign text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace dlbench::machine;
  (void)IsaOf(ParseCpuInfo(text));
  if (const auto cpus = ParseCpuList(text); cpus.ok()) {
    for (std::size_t i = 1; i < cpus->size(); ++i) {
      if ((*cpus)[i] <= (*cpus)[i - 1]) std::abort();
    }
  }
  if (const auto peaks = ParsePeaks(text, ""); peaks.ok()) {
    if (!ParsePeaks(PeaksToText("", *peaks), "").ok()) std::abort();
  }
  return 0;
}
