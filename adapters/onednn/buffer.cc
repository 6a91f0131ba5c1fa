#include "buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace dlbench::onednn {
namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;  // x86-64 and arm64 with 4 KiB pages
constexpr std::size_t kPage = 4096;                      // oneDNN's own alignment of scratchpads
}  // namespace

Buffer::Buffer(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kPage;
  bytes_ = (bytes + alignment - 1) / alignment * alignment;
  if (bytes_ == 0) return;
  data_.reset(static_cast<float*>(std::aligned_alloc(alignment, bytes_)));
  if (!data_) throw std::bad_alloc();
  // A kernel that refuses leaves small pages: slower, still right.
  if (alignment == kHugePage) madvise(data_.get(), bytes_, MADV_HUGEPAGE);
  std::memset(data_.get(), 0, bytes_);
}

void Buffer::Free::operator()(float* memory) const { std::free(memory); }

}  // namespace dlbench::onednn
