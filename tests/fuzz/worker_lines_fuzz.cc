// However bytes are cut, the same lines come out, none longer than the limit.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "worker/line_buffer.h"
#include "worker/process_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr std::uint64_t kLimit = 64;
  const std::size_t piece = data[0] % 7U + 1U;
  std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string_view whole = rest;
  dlbench::worker::LineBuffer buffer(kLimit);
  std::size_t taken = 0;
  while (!rest.empty() && !buffer.too_long()) {
    buffer.Append(rest.substr(0, piece));
    rest.remove_prefix(rest.size() < piece ? rest.size() : piece);
    while (const auto line = buffer.TakeLine()) {
      if (line->size() > kLimit || whole.substr(taken, line->size()) != *line) std::abort();
      taken += line->size() + 1;
    }
    if (buffer.pending() > kLimit + piece) std::abort();
  }
  dlbench::worker::ParseProcessStat(whole);
  return 0;
}
