// Any bytes as an IDX file, plain or gzip: what is accepted must have the size that its shape says.
#include <cstdint>
#include <cstdlib>

#include "data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using dlbench::data::IdxKind;
  for (const IdxKind kind : {IdxKind::kImages, IdxKind::kLabels}) {
    const auto content = dlbench::data::ParseIdx(std::as_bytes(std::span(data, size)), kind);
    if (!content.ok()) continue;
    const auto count = static_cast<std::size_t>(dlbench::network::ElementCount(content->shape));
    if (count != content->bytes.size()) std::abort();
  }
  return 0;
}
