#pragma once

#include <string>
#include <vector>

#include "network/diagnostics.h"
#include "network/document.h"

namespace dlbench::network {

/// One of the [[variants]] of a network file: another reading of the same network.
struct Variant {
  std::string name;               ///< "ceil".
  std::string description;        ///< In the place of the network's.
  const Value* layers = nullptr;  ///< Changes by layer; into the document it was read from.
};

/// Reads the variants of `document`, a table, and checks that they change layers that are there.
/// Errors go to `diagnostics`.
std::vector<Variant> ReadVariants(const Value& document, Diagnostics& diagnostics);
/// `document` with the keys that `variant` changes. The variant's values keep their places, so that
/// errors name the line of the variant.
Value WithChanges(const Value& document, const Variant& variant);

}  // namespace dlbench::network
