#pragma once

#include "dlbench_adapter.h"
#include "spec.h"

namespace dlbench::onednn {

/// The network of `prepare` as a chain for the engine. Throws adapter::Unsupported, with the node
/// and the reason, for whatever is no such chain.
NetworkSpec ToChain(const adapter::Network& network);

}  // namespace dlbench::onednn
