#pragma once

#include <cstddef>
#include <memory>

namespace dlbench::onednn {

/// Zeroed float memory that lives as long as the engine. Aligned for oneDNN; where it is larger
/// than one huge page it is aligned to huge pages and the kernel is asked to use them.
class Buffer {
 public:
  Buffer() = default;
  /// Throws std::bad_alloc.
  explicit Buffer(std::size_t bytes);

  float* data() const { return data_.get(); }
  /// Bytes reserved, with the rounding up.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  std::unique_ptr<float, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace dlbench::onednn
