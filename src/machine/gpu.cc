#include "machine/gpu.h"

#include <dlfcn.h>

#include <array>
#include <memory>

#include "core/text.h"

namespace dlbench::machine {
namespace {

// The few calls of NVML that are used, declared here so that no CUDA header is needed to build
// (NVML API reference; status 0 is success).
using Status = int;
using Device = void*;
struct MemoryInfo {
  unsigned long long total, free, used;  // NOLINT(google-runtime-int): as NVML has it
};
using Init = Status (*)();
using GetCount = Status (*)(unsigned*);
using GetDevice = Status (*)(unsigned, Device*);
using GetText = Status (*)(Device, char*, unsigned);
using GetMemory = Status (*)(Device, MemoryInfo*);
using GetDriver = Status (*)(char*, unsigned);

struct CloseLibrary {
  void operator()(void* handle) const { ::dlclose(handle); }
};

template <class Function>
Function Symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

std::vector<Gpu> ReadGpus(const char* library) {
  const std::unique_ptr<void, CloseLibrary> handle(::dlopen(library, RTLD_NOW | RTLD_LOCAL));
  if (!handle) return {};
  const auto init = Symbol<Init>(handle.get(), "nvmlInit_v2");
  const auto shutdown = Symbol<Init>(handle.get(), "nvmlShutdown");
  const auto get_count = Symbol<GetCount>(handle.get(), "nvmlDeviceGetCount_v2");
  const auto get_device = Symbol<GetDevice>(handle.get(), "nvmlDeviceGetHandleByIndex_v2");
  const auto get_name = Symbol<GetText>(handle.get(), "nvmlDeviceGetName");
  const auto get_memory = Symbol<GetMemory>(handle.get(), "nvmlDeviceGetMemoryInfo");
  const auto get_driver = Symbol<GetDriver>(handle.get(), "nvmlSystemGetDriverVersion");
  if (init == nullptr || shutdown == nullptr || get_count == nullptr || get_device == nullptr) {
    return {};
  }
  if (init() != 0) return {};
  std::array<char, 96> driver{};
  if (get_driver != nullptr) (void)get_driver(driver.data(), driver.size() - 1);
  std::vector<Gpu> gpus;
  unsigned count = 0;
  if (get_count(&count) != 0) count = 0;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (get_device(i, &device) != 0) continue;
    std::array<char, 128> name{};
    if (get_name != nullptr) (void)get_name(device, name.data(), name.size() - 1);
    MemoryInfo memory{};
    if (get_memory != nullptr && get_memory(device, &memory) != 0) memory = {};
    gpus.push_back({SanitizeUtf8(name.data()), SanitizeUtf8(driver.data()), memory.total});
  }
  (void)shutdown();
  return gpus;
}

}  // namespace dlbench::machine
