#include "machine/bandwidth.h"

#include <algorithm>

#include "machine/team.h"

namespace dlbench::machine {

Triad::Triad(int threads, std::size_t bytes_each) : parts_(static_cast<std::size_t>(threads)) {
  const std::size_t count = bytes_each / sizeof(double) / parts_.size();
  RunTogether(threads, [&](int thread) {
    Part& part = parts_[static_cast<std::size_t>(thread)];
    part.a.assign(count, 0.0);
    part.b.assign(count, 1.0);
    part.c.assign(count, 2.0);
  });
}

double Triad::Run() {
  RunTogether(static_cast<int>(parts_.size()), [&](int thread) {
    Part& part = parts_[static_cast<std::size_t>(thread)];
    double* const a = part.a.data();
    const double* const b = part.b.data();
    const double* const c = part.c.data();
    const std::size_t count = part.a.size();
    for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + 0.5 * c[i];
    asm volatile("" : : "r"(a) : "memory");
  });
  return 3.0 * sizeof(double) * static_cast<double>(parts_.size() * parts_[0].a.size());
}

std::size_t TriadBytes(std::size_t last_cache_bytes, std::size_t memory_bytes) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const std::size_t wanted = std::clamp(4 * last_cache_bytes, 64 * kMiB, 256 * kMiB);
  if (memory_bytes == 0) return wanted;
  return std::max(kMiB, std::min(wanted, memory_bytes / 16));
}

}  // namespace dlbench::machine
