#pragma once

// Loops compiled for several instruction sets in one binary and chosen once at run time. Not
// target_clones: its resolvers run before a sanitizer's runtime is ready.

/// A body that is inlined into each of its versions and compiled for that version's instructions.
#define DLBENCH_SIMD_BODY static inline __attribute__((always_inline))

#if defined(__x86_64__)
/// Defines `void name(params)` that calls `body args` compiled for AVX-512, AVX2 or the baseline.
/// `params` and `args` are in parentheses.
#define DLBENCH_SIMD_VERSIONS(name, body, params, args)                                        \
  __attribute__((target("avx512f,avx512dq,avx512vl"))) void name##Avx512 params { body args; } \
  __attribute__((target("avx2,fma"))) void name##Avx2 params { body args; }                    \
  void name##Baseline params { body args; }                                                    \
  void name params {                                                                           \
    static const auto version =                                                                \
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&             \
                __builtin_cpu_supports("avx512vl")                                             \
            ? name##Avx512                                                                     \
        : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? name##Avx2         \
                                                                          : name##Baseline;    \
    version args;                                                                              \
  }
#else
#define DLBENCH_SIMD_VERSIONS(name, body, params, args) \
  void name params { body args; }
#endif

// Before a loop whose iterations do not depend on each other, though g++ cannot see it.
#if defined(__clang__)
#define DLBENCH_INDEPENDENT
#else
#define DLBENCH_INDEPENDENT _Pragma("GCC ivdep")
#endif
