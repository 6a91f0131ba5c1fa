#pragma once

#include <map>
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
  std::optional<InitialRule> scales;
  bool biases_decay = false;
  /// Attributes by op, for layers that do not give them. Into the document.
  std::map<std::string, const Value*> attributes;
};

/// The nodes of a network and what the outer names stand for.
struct ResolvedLayers {
  std::vector<Node> nodes;
  /// Nodes by the names of the file's top level: a layer's own, a group's last node.
  std::map<std::string, std::string> names;
};

/// Expands groups, resolves names and infers shapes. Errors go to `diagnostics`; the result is
/// complete only if there are none.
ResolvedLayers ResolveLayers(const Value::Array& layers, const Input& input,
                             const LayerDefaults& defaults, Diagnostics& diagnostics);

}  // namespace dlbench::network
