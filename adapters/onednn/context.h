#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "dlbench_adapter.h"
#include "spec.h"

namespace dlbench::onednn {

/// What all layers share. Strict float32 and scratchpads of the engine's own.
struct Context {
  dnnl::engine engine;
  dnnl::stream stream;
  std::int64_t batch = 0;
  int threads = 1;
  Preset preset = Preset::kDefault;
  WeightLayout layout = WeightLayout::kAuto;
  SgdRule sgd;

  dnnl::primitive_attr Attributes() const;
  bool fuses() const { return preset == Preset::kRecommended; }

  /// A float32 tensor in one of oneDNN's layouts.
  static dnnl::memory::desc Desc(const dnnl::memory::dims& dims, dnnl::memory::format_tag tag);
  /// The row-major matrix [rows, columns].
  static dnnl::memory::desc Matrix(std::int64_t rows, std::int64_t columns);
  /// How the engine holds a batch of values of `shape` in plain order: [N, C], [N, C, H, W], and
  /// sequences by time, [T, N, D], so that the rows of one time lie together.
  dnnl::memory::desc Plain(const adapter::Shape& shape) const;
  /// The same dimensions in the order of the files, batch before time.
  dnnl::memory::desc FileOrder(const adapter::Shape& shape) const;
};

/// Elements with the layout's padding.
std::int64_t StoredElements(const dnnl::memory::desc& desc);
/// Whether the layout holds nothing but the elements.
bool IsDense(const dnnl::memory::desc& desc);
/// Copies between layouts; outside the clock.
void Reorder(const Context& context, const dnnl::memory& from, const dnnl::memory& to);

}  // namespace dlbench::onednn
