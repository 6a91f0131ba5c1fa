// A binary of its own: it replaces malloc and its family for the whole process and counts who calls
// them while a step runs.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "engine.h"
#include "naive_network.h"

namespace {

/// Addresses at which libdnnl is loaded.
std::uintptr_t library_begin = 0;
std::uintptr_t library_end = 0;

std::atomic<bool> counting = false;
std::atomic<int> ours = 0;
std::atomic<int> library_calls = 0;
std::atomic<std::size_t> library_bytes = 0;

void Count(const void* caller, std::size_t size) {
  if (!counting) return;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (address >= library_begin && address < library_end) {
    ++library_calls;
    library_bytes += size;
  } else {
    ++ours;
  }
}

}  // namespace

// glibc's own names for what stands behind malloc.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  Count(__builtin_return_address(0), size);
  return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  Count(__builtin_return_address(0), size);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  Count(__builtin_return_address(0), size);
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

void* operator new(std::size_t size) {
  Count(__builtin_return_address(0), size);
  void* memory = __libc_malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace dlbench::onednn {
namespace {

void FindLibrary() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        if (std::strstr(info->dlpi_name, "libdnnl") == nullptr) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          library_begin = info->dlpi_addr + segment.p_vaddr;
          library_end = library_begin + segment.p_memsz;
        }
        return 1;
      },
      nullptr);
}

/// Counts over `steps` steps after two of warming up.
void CountSteps(Preset preset, int threads, int steps) {
  FindLibrary();
  ASSERT_NE(library_begin, 0U) << "libdnnl is not a shared library here";
  constexpr std::int64_t kBatch = 64;
  NetworkSpec spec = Chain(200, {256, 128, 10}, Activation::kSigmoid);
  spec.sgd = {0.9F, 0.01F, true};
  Engine engine(spec, {kBatch, threads, preset});
  const NaiveNetwork start(spec, kBatch, 1);
  for (std::size_t i = 0; i < engine.parameter_count(); ++i) engine.Load(i, start.start(i).data());
  const std::vector<float> x = RandomNumbers(kBatch * 200, 2);
  const std::vector<std::int32_t> labels = RandomLabels(kBatch, 10, 3);
  double loss = 0.0;
  for (int i = 0; i < 2; ++i) loss = engine.Step(x.data(), labels.data(), 0.1);
  ours = library_calls = 0;
  library_bytes = 0;
  counting = true;
  for (int i = 0; i < steps; ++i) loss += engine.Step(x.data(), labels.data(), 0.1);
  counting = false;
  EXPECT_GT(loss, 0.0);
}

class StepAllocations : public testing::TestWithParam<std::tuple<Preset, int>> {};

TEST_P(StepAllocations, OursAreNone) {
  const auto& [preset, threads] = GetParam();
  CountSteps(preset, threads, 10);
  EXPECT_EQ(ours, 0);
  RecordProperty("library_calls_a_step", library_calls / 10);
  RecordProperty("library_bytes_a_step", static_cast<int>(library_bytes / 10));
}

INSTANTIATE_TEST_SUITE_P(Presets, StepAllocations,
                         testing::Combine(testing::Values(Preset::kDefault, Preset::kRecommended),
                                          testing::Values(1, 2)));

TEST(StepAllocations, OfTheLibraryAreBookkeepingWithBlockedWeights) {
  CountSteps(Preset::kRecommended, 2, 10);
  // dnnl_primitive_execute makes a small map of the arguments at every call; no matrix is copied.
  EXPECT_LT(library_bytes / 10, 16U * 1024U);
}

TEST(StepAllocations, TheHookSeesAllocations) {
  counting = true;
  ours = 0;
  std::vector<float> vector(1000);
  void* memory = malloc(10);
  counting = false;
  EXPECT_EQ(ours, 2);
  std::free(memory);
  EXPECT_EQ(vector.size(), 1000U);
}

}  // namespace
}  // namespace dlbench::onednn
