#pragma once

#include <optional>

#include "network/diagnostics.h"
#include "network/network.h"
#include "network/table_reader.h"

namespace dlbench::network {

/// Reads [input] of `top` into `network.input` and checks it, and `network.classes`, against the
/// data set that it names. The shape is absent where it is wrong.
std::optional<Shape> ReadInput(TableReader& top, Network& network, Diagnostics& diagnostics);

}  // namespace dlbench::network
