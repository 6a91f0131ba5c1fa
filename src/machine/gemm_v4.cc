#define DLBENCH_GEMM_SUFFIX V4
#include "machine/gemm_eigen.inc"
