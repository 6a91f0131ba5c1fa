#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "worker/worker.h"

namespace dlbench::worker {

/// A Failure that carries only its kind and words; the session adds exit status and log tail.
Failure MakeFailure(FailureKind kind, std::string message);
/// Foreign text for a message: printable, cut after `limit` bytes with a mark that says how much is
/// missing.
std::string Quoted(std::string_view text, std::size_t limit = 200);

}  // namespace dlbench::worker
