#pragma once

#include <optional>
#include <string>
#include <vector>

#include "buffer.h"
#include "context.h"

namespace dlbench::onednn {

/// How a parameter is stored.
struct Storage {
  dnnl::memory::desc canonical;  ///< As in the files, plain; possibly with split dimensions.
  dnnl::memory::desc stored;
  /// A second way to read the bytes in between: canonical is reordered to `first`, whose bytes are
  /// then read as `second` and reordered to `stored`. For weights whose inputs come in an order of
  /// their own (after a flatten).
  struct Detour {
    dnnl::memory::desc first, second;
  };
  std::optional<Detour> detour = std::nullopt;
};

/// A trainable tensor with its gradient and velocity, all three in one layout.
struct Parameter {
  Parameter(const Context& context, const adapter::Parameter& from, Storage how);

  std::string name;      ///< "fc1.weight".
  adapter::Shape shape;  ///< Canonical: docs/protocol.md.
  bool decays = true;
  Storage storage;
  dnnl::memory values, gradient, velocity;  ///< `velocity` is empty without momentum.
  std::vector<Buffer> buffers;              ///< Memory of the three.
  std::int64_t stored_elements = 0;         ///< Of each, with the layout's padding, which stays 0.

  /// From and to the canonical layout; outside the clock.
  void Load(const Context& context, const float* canonical);
  void Read(const Context& context, const dnnl::memory& from, float* out) const;
  std::size_t bytes() const;
};

/// A tensor that a node keeps from step to step, in canonical layout.
struct StateBuffer {
  explicit StateBuffer(const adapter::Buffer& from);
  /// Gives every element the initial value.
  void Reset();

  std::string name;
  float initial = 0.0F;
  std::int64_t count = 0;
  Buffer storage;
  float* data() const { return storage.data(); }
};

}  // namespace dlbench::onednn
