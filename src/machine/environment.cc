#include "machine/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/text.h"

namespace dlbench::machine {
namespace {

constexpr std::size_t kMaxValue = 400;

constexpr std::array<std::string_view, 17> kPrefixes{
    "OMP_",   "GOMP_",   "KMP_",  "MKL_",           "OPENBLAS_", "GOTO_",
    "BLIS_",  "ONEDNN_", "DNNL_", "CUDA_",          "NVIDIA_",   "PYTORCH_",
    "CUDNN_", "NCCL_",   "XLA_",  "TORCHINDUCTOR_", "MXNET_"};
constexpr std::array<std::string_view, 24> kNames{"TF_ENABLE_ONEDNN_OPTS",
                                                  "TF_NUM_INTRAOP_THREADS",
                                                  "TF_NUM_INTEROP_THREADS",
                                                  "TF_XLA_FLAGS",
                                                  "TF_FORCE_GPU_ALLOW_GROWTH",
                                                  "TF_GPU_ALLOCATOR",
                                                  "TF_DISABLE_MKL",
                                                  "LD_PRELOAD",
                                                  "LD_LIBRARY_PATH",
                                                  "LD_BIND_NOW",
                                                  "GLIBC_TUNABLES",
                                                  "MALLOC_ARENA_MAX",
                                                  "MALLOC_CHECK_",
                                                  "MALLOC_CONF",
                                                  "MALLOC_PERTURB_",
                                                  "MALLOC_TRIM_THRESHOLD_",
                                                  "MALLOC_MMAP_THRESHOLD_",
                                                  "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION",
                                                  "PYTHONDEVMODE",
                                                  "PYTHONMALLOC",
                                                  "TORCH_LOGS",
                                                  "TORCH_COMPILE_DEBUG",
                                                  "TBB_NUM_THREADS",
                                                  "NUMEXPR_NUM_THREADS"};
/// Parts of names that may hold secrets whatever their prefix ("NCCL_AUTH_TOKEN").
constexpr std::array<std::string_view, 6> kSecret{"TOKEN",  "SECRET",     "PASSWORD",
                                                  "PASSWD", "CREDENTIAL", "_KEY"};

/// A value that is known to slow things down. "*" matches every value but "" and "0".
struct Rule {
  std::string_view name;
  std::string_view value;
  std::string_view why;
};
constexpr std::array<Rule, 24> kRules{{
    {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python", "parses protocol buffers in pure Python"},
    {"TF_ENABLE_ONEDNN_OPTS", "0", "switches off TensorFlow's oneDNN kernels"},
    {"TF_DISABLE_MKL", "*", "switches off TensorFlow's oneDNN kernels"},
    {"MKL_DEBUG_CPU_TYPE", "*", "forces another processor's code path in MKL"},
    {"MKL_CBWR", "*", "makes MKL reproducible at the cost of speed"},
    {"MKL_ENABLE_INSTRUCTIONS", "*", "limits the instructions that MKL uses"},
    {"MKL_VERBOSE", "*", "prints a line for every MKL call"},
    {"CUDA_LAUNCH_BLOCKING", "*", "waits after every GPU kernel"},
    {"LD_PRELOAD", "*", "loads a library into every framework"},
    {"OPENBLAS_CORETYPE", "*", "forces another processor's kernels in OpenBLAS"},
    {"OPENBLAS_VERBOSE", "*", "makes OpenBLAS print"},
    {"ONEDNN_VERBOSE", "*", "prints a line for every oneDNN primitive"},
    {"DNNL_VERBOSE", "*", "prints a line for every oneDNN primitive"},
    {"ONEDNN_MAX_CPU_ISA", "*", "limits the instructions that oneDNN uses"},
    {"DNNL_MAX_CPU_ISA", "*", "limits the instructions that oneDNN uses"},
    {"OMP_PROC_BIND", "*",
     "lets OpenMP bind threads when it is loaded, and narrow the CPUs of its process"},
    {"OMP_PLACES", "*",
     "lets OpenMP bind threads when it is loaded, and narrow the CPUs of its process"},
    {"GOMP_CPU_AFFINITY", "*",
     "lets OpenMP bind threads when it is loaded, and narrow the CPUs of its process"},
    {"KMP_AFFINITY", "*",
     "lets OpenMP bind threads when it is loaded, and narrow the CPUs of its process"},
    {"MALLOC_CHECK_", "*", "checks every allocation"},
    {"MALLOC_PERTURB_", "*", "overwrites all memory that is allocated and freed"},
    {"PYTHONDEVMODE", "*", "makes Python check itself"},
    {"TORCH_COMPILE_DEBUG", "*", "writes debugging output when PyTorch compiles"},
    {"NCCL_DEBUG", "*", "makes NCCL print"},
}};
constexpr std::array<std::string_view, 6> kThreadCounts{
    "OMP_NUM_THREADS",  "MKL_NUM_THREADS",        "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "NUMEXPR_NUM_THREADS"};

bool IsFalse(std::string_view value) {
  return value.empty() || value == "0" || value == "false" || value == "FALSE";
}

}  // namespace

bool IsRelevantVariable(std::string_view name) {
  for (const std::string_view secret : kSecret) {
    if (name.find(secret) != std::string_view::npos) return false;
  }
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::map<std::string, std::string> RelevantEnvironment(const std::vector<std::string>& variables) {
  std::map<std::string, std::string> relevant;
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view name = std::string_view(variable).substr(0, equals);
    if (!IsRelevantVariable(name)) continue;
    const std::string_view value = std::string_view(variable).substr(equals + 1);
    relevant[SanitizeUtf8(name)] = SanitizeUtf8(value.substr(0, kMaxValue));
  }
  return relevant;
}

std::vector<std::string> ProcessEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<EnvironmentWarning> EnvironmentWarnings(
    const std::map<std::string, std::string>& variables, int usable_threads) {
  std::vector<EnvironmentWarning> warnings;
  for (const Rule& rule : kRules) {
    const auto found = variables.find(std::string(rule.name));
    if (found == variables.end()) continue;
    const bool hit = rule.value == "*" ? !IsFalse(found->second) : found->second == rule.value;
    if (!hit) continue;
    warnings.push_back({found->first + "=" + found->second + " " + std::string(rule.why),
                        "unset " + found->first});
  }
  for (const std::string_view name : kThreadCounts) {
    const auto found = variables.find(std::string(name));
    if (found == variables.end()) continue;
    // OMP_NUM_THREADS may be a list, one count a nesting level; the first is the one that counts.
    const auto count = ParseInt(Trim(Split(found->second, ',').front()));
    if (count && *count <= usable_threads) continue;
    warnings.push_back({found->first + "=" + found->second + " asks for " +
                            (count ? "more than the " : "something other than the ") +
                            std::to_string(usable_threads) +
                            " threads that this process can use; --threads decides for runs",
                        "unset " + found->first});
  }
  return warnings;
}

}  // namespace dlbench::machine
