#pragma once

#include <string>

#include "network/network.h"

namespace dlbench::network {

/// The network in Graphviz's language DOT: a box for each node with its op, the attributes that
/// matter and its parameters, an edge with the tensor's shape for each input, groups as clusters.
std::string ToDot(const Network& network);
/// The same as a picture: nodes from top to bottom in execution order, and beside them an arc for
/// each input that is not the node before.
std::string ToSvg(const Network& network);

}  // namespace dlbench::network
