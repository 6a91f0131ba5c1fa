#pragma once

#include <string>
#include <vector>

namespace dlbench::machine {

/// A row-major matrix product c[m,n] = a[m,k] b[k,n].
struct GemmShape {
  int m = 0;
  int n = 0;
  int k = 0;

  double flop() const { return 2.0 * m * n * k; }
  std::string Text() const;  ///< "64x4096x2048": m, n, k.
};
/// Shapes that reach a high rate: square ones, and the skinny ones of fully connected layers.
std::vector<GemmShape> PeakShapes();

/// Eigen's product compiled for one instruction set.
struct EigenGemm {
  std::string name;  ///< "eigen avx2".
  void (*run_float)(const GemmShape& shape, const float* a, const float* b, float* c) = nullptr;
  void (*run_double)(const GemmShape& shape, const double* a, const double* b, double* c) = nullptr;
};
/// The widest that this processor runs.
EigenGemm BestEigenGemm();

/// oneDNN's float32 product on `threads` threads; false where it could not be loaded (then nothing
/// was done). Loads OpenMP into the process: to be called in a child process only.
bool OneDnnGemm(const GemmShape& shape, int threads, const float* a, const float* b, float* c);

namespace internal {
// One per instruction set, each from the same source (gemm_eigen.inc).
void EigenFloatV1(const GemmShape& shape, const float* a, const float* b, float* c);
void EigenDoubleV1(const GemmShape& shape, const double* a, const double* b, double* c);
void EigenFloatV3(const GemmShape& shape, const float* a, const float* b, float* c);
void EigenDoubleV3(const GemmShape& shape, const double* a, const double* b, double* c);
void EigenFloatV4(const GemmShape& shape, const float* a, const float* b, float* c);
void EigenDoubleV4(const GemmShape& shape, const double* a, const double* b, double* c);
}  // namespace internal

}  // namespace dlbench::machine
