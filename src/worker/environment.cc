#include "worker/environment.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <random>

#include "worker/process.h"

namespace dlbench::worker {
namespace {

/// Where programs, libraries, caches and devices are; nothing that tunes a framework, which belongs
/// into the result's settings.
constexpr std::array kTakenOver = {"PATH",
                                   "HOME",
                                   "USER",
                                   "LOGNAME",
                                   "TMPDIR",
                                   "TZ",
                                   "LD_LIBRARY_PATH",
                                   "XDG_DATA_HOME",
                                   "XDG_CACHE_HOME",
                                   "XDG_CONFIG_HOME",
                                   "XDG_RUNTIME_DIR",
                                   "CUDA_VISIBLE_DEVICES",
                                   "NVIDIA_VISIBLE_DEVICES"};

/// Pools read these once, when their library is loaded: later is too late.
constexpr std::array kThreadPools = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"};

}  // namespace

std::vector<std::string> LaunchEnvironment(const LaunchSpec& spec, const std::string& mark,
                                           std::uint32_t padding) {
  std::map<std::string, std::string> variables;
  for (const char* name : kTakenOver) {
    if (const char* value = std::getenv(name)) variables[name] = value;
  }
  variables["LANG"] = "C.UTF-8";
  variables["LC_ALL"] = "C.UTF-8";
  for (const char* name : kThreadPools) variables[name] = std::to_string(spec.threads);
  for (const auto& [name, value] : spec.environment) variables[name] = value;
  variables["DLBENCH_FD_IN"] = std::to_string(kRequestFd);
  variables["DLBENCH_FD_OUT"] = std::to_string(kReplyFd);
  variables["DLBENCH_FOLDER"] = spec.folder.string();
  variables["DLBENCH_PADDING"] = std::string(padding, 'x');
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  environment.push_back(mark);
  return environment;
}

std::string NewLaunchMark() {
  std::random_device source;
  return "DLBENCH_LAUNCH=" + std::to_string(::getpid()) + "-" + std::to_string(source()) + "-" +
         std::to_string(source());
}

std::uint32_t RandomPadding() {
  std::random_device source;
  return std::uniform_int_distribution<std::uint32_t>(0, kMostPadding - 1)(source);
}

}  // namespace dlbench::worker
