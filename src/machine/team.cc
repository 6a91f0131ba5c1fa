#include "machine/team.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace dlbench::machine {

double RunTogether(int threads, const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(threads));
  for (int thread = 1; thread < threads; ++thread) {
    others.emplace_back([&, thread] {
      ready.fetch_add(1);
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      work(thread);
    });
  }
  while (ready.load() < threads - 1) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  go.store(true, std::memory_order_release);
  work(0);
  for (std::thread& other : others) other.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace dlbench::machine
