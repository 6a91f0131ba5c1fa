#pragma once

#include <functional>

namespace dlbench::machine {

/// Runs `work(thread)` on `threads` threads at once (this one is thread 0) and returns the seconds
/// from the moment when all were ready until the last had finished. They wait for each other by
/// spinning, which is right for pieces of milliseconds and for no more threads than there are CPUs.
double RunTogether(int threads, const std::function<void(int)>& work);

}  // namespace dlbench::machine
