#include "memory_plan.h"

#include <algorithm>
#include <numeric>

namespace dlbench::onednn {
namespace {

constexpr std::size_t kAlignment = 4096;

std::size_t Index(int slot) { return static_cast<std::size_t>(slot); }

}  // namespace

int MemoryPlan::Reserve(std::size_t bytes, int time) {
  slots_.push_back({(bytes + kAlignment - 1) / kAlignment * kAlignment, time, time});
  return static_cast<int>(slots_.size()) - 1;
}

void MemoryPlan::Use(int slot, int time) {
  slots_[Index(slot)].first = std::min(slots_[Index(slot)].first, time);
  slots_[Index(slot)].last = std::max(slots_[Index(slot)].last, time);
}

dnnl::memory MemoryPlan::View(int slot, std::size_t offset, const dnnl::memory::desc& desc) {
  views_.push_back({slot, offset, dnnl::memory(desc, engine_, DNNL_MEMORY_NONE)});
  return views_.back().memory;
}

/// The largest first, each at the lowest place that is free during its life. Returns the end.
std::size_t MemoryPlan::Place() {
  std::vector<std::size_t> order(slots_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return slots_[a].bytes > slots_[b].bytes; });
  std::vector<const Slot*> placed;  // by begin
  std::size_t end = 0;
  for (const std::size_t index : order) {
    Slot& slot = slots_[index];
    slot.begin = 0;
    for (const Slot* other : placed) {
      if (!slot.Overlaps(*other)) continue;
      if (slot.begin + slot.bytes <= other->begin) break;
      slot.begin = std::max(slot.begin, other->begin + other->bytes);
    }
    const auto behind =
        std::upper_bound(placed.begin(), placed.end(), slot.begin,
                         [](std::size_t begin, const Slot* other) { return begin < other->begin; });
    placed.insert(behind, &slot);
    end = std::max(end, slot.begin + slot.bytes);
  }
  return end;
}

void MemoryPlan::Commit() {
  memory_ = Buffer(Place());
  for (Bound& view : views_) {
    const std::size_t begin = slots_[Index(view.slot)].begin + view.offset;
    view.memory.set_data_handle(memory_.data() + begin / sizeof(float));
  }
}

}  // namespace dlbench::onednn
