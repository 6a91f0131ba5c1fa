// Any bytes as a text: every id must have its word, and every line end its mark.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto corpus = dlbench::data::MakeCorpus(text, 8);
  if (!corpus.ok()) return 0;
  if (corpus->words.size() > 8 || corpus->tokens.empty() || corpus->tokens.back() != 0)
    std::abort();
  for (const std::int32_t token : corpus->tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= corpus->words.size()) std::abort();
  }
  (void)dlbench::data::PlainVerses(text);
  return 0;
}
