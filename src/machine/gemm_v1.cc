#define DLBENCH_GEMM_SUFFIX V1
#include "machine/gemm_eigen.inc"
