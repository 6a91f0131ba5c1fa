#include "parallel.h"

#include <sched.h>

// libgomp's own entry points instead of pragmas: Debian's oneDNN runs on libgomp, and clang's
// pragmas would bring a second runtime (libomp) with a second pool of threads into the process.
// GOMP_parallel is what g++ makes of `#pragma omp parallel`; its interface is frozen by every
// program built with g++.
extern "C" {
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
void omp_set_dynamic(int dynamic);
}

namespace dlbench::onednn {

void SetThreads(int threads) {
  omp_set_dynamic(0);  // OMP_DYNAMIC=true would let the runtime use fewer
  omp_set_num_threads(threads);
}

int MaxThreads() { return omp_get_max_threads(); }

int AllowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 0;
  return CPU_COUNT(&allowed);
}

namespace detail {
namespace {
struct Team {
  void (*body)(void*, int, int);
  void* data;
};
}  // namespace

void RunTeam(int threads, void (*body)(void* data, int thread, int threads), void* data) {
  Team team{body, data};
  GOMP_parallel(
      [](void* opaque) {
        const Team& self = *static_cast<const Team*>(opaque);
        self.body(self.data, omp_get_thread_num(), omp_get_num_threads());
      },
      &team, static_cast<unsigned>(threads), 0);
}

}  // namespace detail
}  // namespace dlbench::onednn
