#pragma once

#include <cstdint>
#include <functional>

namespace dlbench::reference {

/// Calls `work(begin, end)` for consecutive pieces of [0, count), each `piece` long (the last one
/// shorter), on all cores this process may use. The pieces do not depend on the number of threads,
/// so neither do results whose pieces are independent. `work` must not throw.
void ParallelFor(std::int64_t count, std::int64_t piece,
                 const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace dlbench::reference
