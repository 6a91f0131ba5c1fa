#define DLBENCH_GEMM_SUFFIX V3
#include "machine/gemm_eigen.inc"
