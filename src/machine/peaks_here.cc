#include "machine/peaks_here.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

#include "machine/bandwidth.h"
#include "machine/disturbance.h"
#include "machine/fma.h"
#include "machine/gemm.h"
#include "machine/team.h"
#include "machine/topology.h"

namespace dlbench::machine {
namespace {

/// Repeats `run` for `seconds` (at least twice: the first run warms up) and returns the highest
/// rate of a run: `run` returns its seconds and does `work`.
double BestRate(double seconds, double work, const std::function<double()>& run) {
  double shortest = run();
  double spent = shortest;
  do {
    const double taken = run();
    spent += taken;
    shortest = std::min(shortest, taken);
  } while (spent < seconds);
  return shortest > 0 ? work / shortest : 0;
}

/// Until when a disturbed measurement is worth a second one; on a busy machine all are disturbed,
/// and nobody wants to wait for that.
using Deadline = std::chrono::steady_clock::time_point;

/// Measures, and once more if disturbed; keeps the undisturbed result, else the higher one.
Peak Measured(Peak peak, Deadline deadline, const std::function<double()>& rate) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt > 0 && std::chrono::steady_clock::now() > deadline) break;
    const DisturbanceWatch watch;
    const double found = rate();
    const bool disturbed = watch.Disturbed(peak.threads);
    if (attempt == 0 || !disturbed || found > peak.per_second) peak.per_second = found;
    peak.disturbed = disturbed;
    if (!disturbed) break;
  }
  return peak;
}

Peak Best(const std::vector<Peak>& candidates) {
  return *std::max_element(candidates.begin(), candidates.end(), [](const Peak& a, const Peak& b) {
    return a.per_second < b.per_second;
  });
}

Peak MeasureFma(bool float64, int threads, double seconds, Deadline deadline) {
  // The two widest: on processors with one wide unit the narrower kernel is as fast.
  std::vector<FmaKernel> kernels = FmaKernels(float64);
  if (kernels.size() > 2) kernels.erase(kernels.begin(), kernels.end() - 2);
  constexpr std::uint64_t kLoops = 1'000'000;  // About 2 ms, less than a time slice.
  std::vector<Peak> candidates;
  for (const FmaKernel& kernel : kernels) {
    std::vector<double> results(static_cast<std::size_t>(threads));
    const double flop = kernel.flop_per_loop * static_cast<double>(kLoops) * threads;
    const Peak peak{float64 ? "fma_float64" : "fma_float32", threads, 0,
                    "registers, " + kernel.name, false};
    candidates.push_back(Measured(peak, deadline, [&] {
      return BestRate(seconds / static_cast<double>(kernels.size()), flop, [&] {
        return RunTogether(threads, [&](int thread) {
          results[static_cast<std::size_t>(thread)] = kernel.run(kLoops);
        });
      });
    }));
  }
  return Best(candidates);
}

template <class T>
struct Operands {
  explicit Operands(const GemmShape& shape)
      : a(static_cast<std::size_t>(shape.m) * static_cast<std::size_t>(shape.k), T(0.5)),
        b(static_cast<std::size_t>(shape.k) * static_cast<std::size_t>(shape.n), T(0.25)),
        c(static_cast<std::size_t>(shape.m) * static_cast<std::size_t>(shape.n), T(0)) {}
  std::vector<T> a, b, c;
};

/// Eigen's product, one for each thread at the same time.
template <class T>
Peak MeasureEigen(const char* what, const GemmShape& shape, int threads, double seconds,
                  Deadline deadline, const std::string& name,
                  void (*product)(const GemmShape&, const T*, const T*, T*)) {
  std::vector<Operands<T>> operands(static_cast<std::size_t>(threads), Operands<T>(shape));
  const Peak peak{what, threads, 0, name + " " + shape.Text(), false};
  return Measured(peak, deadline, [&] {
    return BestRate(seconds, shape.flop() * threads, [&] {
      return RunTogether(threads, [&](int thread) {
        Operands<T>& own = operands[static_cast<std::size_t>(thread)];
        product(shape, own.a.data(), own.b.data(), own.c.data());
      });
    });
  });
}

/// oneDNN's product, shared by its threads; nothing where oneDNN is not to be had.
std::optional<Peak> MeasureOneDnn(const GemmShape& shape, int threads, double seconds,
                                  Deadline deadline) {
  Operands<float> own(shape);
  const auto run = [&] {
    return OneDnnGemm(shape, threads, own.a.data(), own.b.data(), own.c.data());
  };
  const auto begin = std::chrono::steady_clock::now();
  if (!run()) return std::nullopt;
  // On a slow machine the largest shapes take seconds and are no faster than the others.
  const std::chrono::duration<double> first = std::chrono::steady_clock::now() - begin;
  if (first.count() > 4 * seconds && shape.flop() > PeakShapes()[0].flop()) return std::nullopt;
  const Peak peak{"gemm_float32", threads, 0, "onednn " + shape.Text(), false};
  return Measured(peak, deadline, [&] {
    return BestRate(seconds, shape.flop(), [&] {
      const auto start = std::chrono::steady_clock::now();
      (void)run();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
  });
}

Peak MeasureGemmFloat(int threads, double seconds, Deadline deadline) {
  const std::vector<GemmShape> shapes = PeakShapes();
  const double each = seconds / static_cast<double>(shapes.size());
  std::vector<Peak> candidates;
  for (const GemmShape& shape : shapes) {
    if (const auto peak = MeasureOneDnn(shape, threads, each, deadline))
      candidates.push_back(*peak);
  }
  const EigenGemm eigen = BestEigenGemm();
  candidates.push_back(MeasureEigen<float>("gemm_float32", shapes[1], threads, each, deadline,
                                           eigen.name, eigen.run_float));
  return Best(candidates);
}

Peak MeasureGemmDouble(int threads, double seconds, Deadline deadline) {
  const EigenGemm eigen = BestEigenGemm();
  const std::vector<GemmShape> shapes = PeakShapes();
  std::vector<Peak> candidates;
  for (const GemmShape& shape : {shapes[0], shapes[1]}) {
    candidates.push_back(MeasureEigen<double>("gemm_float64", shape, threads, seconds / 2, deadline,
                                              eigen.name, eigen.run_double));
  }
  return Best(candidates);
}

Peak MeasureBandwidth(int threads, double seconds, Deadline deadline) {
  std::uint64_t last_cache = 0;
  for (const Cache& cache : ReadTopology("/").caches)
    last_cache = std::max(last_cache, cache.bytes);
  const auto memory = static_cast<std::size_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) *
                      static_cast<std::size_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  const std::size_t bytes = TriadBytes(last_cache, memory);
  Triad triad(threads, bytes);
  const Peak peak{"bandwidth", threads, 0, "triad, 3 x " + std::to_string(bytes >> 20) + " MiB",
                  false};
  return Measured(peak, deadline, [&] {
    double moved = 0;
    const auto run = [&] {
      const auto start = std::chrono::steady_clock::now();
      moved = triad.Run();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    return BestRate(seconds, 1.0, run) * moved;
  });
}

}  // namespace

std::vector<Peak> MeasurePeaksHere(const PeakOptions& options) {
  std::vector<Peak> peaks;
  for (const int threads : options.threads) {
    if (threads < 1) continue;
    const double seconds = options.seconds_each;
    const Deadline deadline = std::chrono::steady_clock::now() +
                              std::chrono::milliseconds(static_cast<int>(seconds * 7000));
    peaks.push_back(MeasureFma(false, threads, seconds, deadline));
    peaks.push_back(MeasureFma(true, threads, seconds, deadline));
    peaks.push_back(MeasureGemmFloat(threads, seconds, deadline));
    peaks.push_back(MeasureGemmDouble(threads, seconds, deadline));
    peaks.push_back(MeasureBandwidth(threads, seconds, deadline));
  }
  return peaks;
}

}  // namespace dlbench::machine
