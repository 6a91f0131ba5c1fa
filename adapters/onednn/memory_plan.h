#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "buffer.h"

namespace dlbench::onednn {

/// Places the tensors of a step in one block of memory: two share bytes where their lives in the
/// step do not overlap. First all are reserved and used, then Commit() gives them addresses.
class MemoryPlan {
 public:
  explicit MemoryPlan(dnnl::engine engine) : engine_(std::move(engine)) {}

  /// A place of `bytes` that lives from `time` on.
  int Reserve(std::size_t bytes, int time);
  /// Makes it live at `time` too; lives have no holes.
  void Use(int slot, int time);
  /// A tensor in the slot, `offset` bytes behind its begin; it has no address before Commit().
  dnnl::memory View(int slot, std::size_t offset, const dnnl::memory::desc& desc);
  /// Reserves the memory and gives all views their addresses. Throws std::bad_alloc.
  void Commit();
  /// Bytes reserved by Commit().
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  struct Slot {
    std::size_t bytes;
    int first, last;
    std::size_t begin = 0;
    bool Overlaps(const Slot& other) const { return first <= other.last && other.first <= last; }
  };
  struct Bound {
    int slot;
    std::size_t offset;
    dnnl::memory memory;
  };

  std::size_t Place();

  dnnl::engine engine_;
  std::vector<Slot> slots_;
  std::vector<Bound> views_;
  Buffer memory_;
};

}  // namespace dlbench::onednn
