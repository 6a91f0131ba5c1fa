#include "machine/gemm.h"

#include <dlfcn.h>
#include <dnnl.h>

namespace dlbench::machine {
namespace {

/// What is used of oneDNN. Its library is loaded when first asked for, never linked: it brings an
/// OpenMP runtime, which may bind the loading process to fewer CPUs (see MeasurePeaks).
struct OneDnn {
  decltype(&dnnl_sgemm) sgemm = nullptr;
  void (*set_threads)(int) = nullptr;
};

OneDnn LoadOneDnn() {
  OneDnn loaded;
  void* library = ::dlopen(DLBENCH_DNNL_SONAME, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return loaded;
  loaded.sgemm = reinterpret_cast<decltype(&dnnl_sgemm)>(::dlsym(library, "dnnl_sgemm"));
  // A name of the OpenMP standard; absent where oneDNN was built for another thread runtime.
  loaded.set_threads =
      reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  return loaded;
}

}  // namespace

std::string GemmShape::Text() const {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

std::vector<GemmShape> PeakShapes() {
  // The skinny one is a fully connected layer's forward pass at batch 64; small squares stay in the
  // second-level cache, large ones amortise packing.
  return {{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {64, 4096, 2048}};
}

EigenGemm BestEigenGemm() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
    return {"eigen avx512f", internal::EigenFloatV4, internal::EigenDoubleV4};
  }
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    return {"eigen avx2", internal::EigenFloatV3, internal::EigenDoubleV3};
  }
#endif
  return {"eigen portable", internal::EigenFloatV1, internal::EigenDoubleV1};
}

bool OneDnnGemm(const GemmShape& shape, int threads, const float* a, const float* b, float* c) {
  static const OneDnn one_dnn = LoadOneDnn();
  if (one_dnn.sgemm == nullptr) return false;
  if (one_dnn.set_threads == nullptr && threads > 1) return false;
  if (one_dnn.set_threads != nullptr) one_dnn.set_threads(threads);
  return one_dnn.sgemm('N', 'N', shape.m, shape.n, shape.k, 1.0F, a, shape.k, b, shape.n, 0.0F, c,
                       shape.n) == dnnl_success;
}

}  // namespace dlbench::machine
