#pragma once

#include <algorithm>
#include <cstdint>

namespace dlbench::onednn {

/// Sets the number of threads of every later parallel region of this thread, oneDNN's included
/// (both use the same libgomp).
void SetThreads(int threads);
/// The number of threads as the runtime reads it back.
int MaxThreads();
/// Processors that this process may run on (its affinity mask), which the threads inherit.
int AllowedProcessors();

namespace detail {
/// Runs body(data, thread, threads) once on each of `threads` threads and waits for all.
void RunTeam(int threads, void (*body)(void* data, int thread, int threads), void* data);
}  // namespace detail

/// Splits [0, count) into one contiguous range a thread, with bounds that are multiples of `grain`,
/// and calls body(begin, end) for each non-empty one. Allocates nothing.
template <class Body>
void ParallelRanges(int threads, std::int64_t count, std::int64_t grain, const Body& body) {
  if (threads <= 1 || count <= grain) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
  struct Job {
    const Body* body;
    std::int64_t count, grain;
  } job{&body, count, grain};
  detail::RunTeam(
      threads,
      [](void* data, int thread, int team) {
        const Job& work = *static_cast<const Job*>(data);
        const std::int64_t grains = (work.count + work.grain - 1) / work.grain;
        const std::int64_t begin = grains * thread / team * work.grain;
        const std::int64_t end = std::min(grains * (thread + 1) / team * work.grain, work.count);
        if (begin < end) (*work.body)(begin, end);
      },
      &job);
}

}  // namespace dlbench::onednn
