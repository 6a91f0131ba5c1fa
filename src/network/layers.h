#pragma once

#include <optional>
#include <string>
#include <vector>

#include "network/diagnostics.h"
#include "network/document.h"
#include "network/initial.h"
#include "network/network.h"

namespace dlbench::network {

/// What applies to every layer that does not say otherwise.
struct LayerDefaults {
  std::optional<InitialRule> weights;  ///< Absent where the file's own is wrong.
  std::optional<InitialRule> biases;
  bool biases_decay = false;
};

/// The nodes of a network and what the outer names stand for.
struct ResolvedLayers {
  std::vector<Node> nodes;
  /// Nodes by the names of the file's top level: a layer's own, a group's last node.
  std::map<std::string, std::string> names;
};

/// Expands groups, resolves names and infers shapes. Errors go to `diagnostics`; the result is
/// complete only if there are none.
ResolvedLayers ResolveLayers(const Value::Array& layers, const Shape& input_shape,
                             const LayerDefaults& defaults, Diagnostics& diagnostics);

}  // namespace dlbench::network
