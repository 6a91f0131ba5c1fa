#include "reference/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace dlbench::reference {

void ParallelFor(std::int64_t count, std::int64_t piece,
                 const std::function<void(std::int64_t, std::int64_t)>& work) {
  const std::int64_t pieces = (count + piece - 1) / piece;
  std::atomic<std::int64_t> next{0};
  const auto take_pieces = [&] {
    for (std::int64_t i = next++; i < pieces; i = next++) {
      work(i * piece, std::min(count, (i + 1) * piece));
    }
  };
  // hardware_concurrency() respects the affinity mask; 0 means that it is not known.
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  try {
    for (std::int64_t i = 1; i < std::min(cores, pieces); ++i) helpers.emplace_back(take_pieces);
  } catch (const std::system_error&) {
    // No further thread to be had (a limit of the system): those that run do all the work.
  }
  take_pieces();
  for (auto& helper : helpers) helper.join();
}

}  // namespace dlbench::reference
