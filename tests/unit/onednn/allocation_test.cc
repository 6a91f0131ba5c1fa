// A binary of its own: it replaces malloc and its family for the whole process and counts who calls
// them while a step runs.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "engine.h"
#include "naive_graph.h"
#include "naive_network.h"
#include "text_network.h"

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

[[gnu::noinline]] void* operator new(std::size_t size) {
  Count(__builtin_return_address(0), size);
  void* memory = __libc_malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

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

/// Counts over `steps` steps of `network` after two of warming up.
void CountSteps(const adapter::Network& network, std::int64_t batch, Preset preset, int threads,
                int steps) {
  FindLibrary();
  ASSERT_NE(library_begin, 0U) << "libdnnl is not a shared library here";
  Engine engine(network, {batch, threads, preset});
  for (std::size_t i = 0; i < engine.parameter_count(); ++i) {
    const auto count = adapter::ElementCount(engine.parameter(i).shape);
    std::vector<float> start = RandomNumbers(static_cast<std::size_t>(count), 1);
    for (float& value : start) value *= 0.1F;
    engine.Load(i, start.data());
  }
  const NaiveBatch data(network, batch, 2);
  StepInput input{data.x.data(), data.tokens.data(), data.labels.data(), {}, 0.1F};
  for (const auto& [node, mask] : data.masks) input.masks.push_back(mask.data());
  double loss = 0.0;
  for (int i = 0; i < 2; ++i) loss = engine.Step(input);
  ours = library_calls = 0;
  library_bytes = 0;
  counting = true;
  for (int i = 0; i < steps; ++i) loss += engine.Step(input);
  counting = false;
  EXPECT_GT(loss, 0.0);
}

adapter::Network Dense() {
  NetworkSpec spec = Chain(200, {256, 128, 10}, Activation::kSigmoid);
  spec.sgd = {0.9F, 0.01F, true};
  return ToNetwork(spec);
}

adapter::Network Images() {
  const std::string conv = R"(op = "conv2d", kernel = [3, 3], stride = [1, 1], )"
                           R"(padding = [1, 1, 1, 1], groups = 1, bias = true)";
  return NetworkOf(
      network::OfImages(
          "[3, 8, 8]",
          "{ name = \"c1\", channels = 16, " + conv + " }, { name = \"c2\", channels = 5, " + conv +
              R"( }, { name = "n", op = "batch_norm", epsilon = 1e-5, momentum = 0.1, )"
              R"(running_variance = "unbiased" }, { name = "r", op = "relu" }, )"
              R"({ name = "a", op = "add", inputs = ["r", "c2"] }, )"
              R"({ name = "p", op = "max_pool2d", kernel = [2, 2], stride = [2, 2], )"
              R"(padding = [0, 0, 0, 0], ceil_mode = false }, )"
              R"({ name = "s", op = "subsample_pad", stride = 2, channels_before = 1, )"
              R"(channels_after = 2 })"),
      16);
}

adapter::Network Sequences() {
  return NetworkOf(
      network::OfTokens(R"({ name = "e", op = "embedding", units = 16 }, )"
                        R"({ name = "l", op = "lstm", units = 24, state = "carried" }, )"
                        R"({ name = "d", op = "dropout", probability = 0.5 })"),
      16);
}

class StepAllocations : public testing::TestWithParam<std::tuple<Preset, int>> {};

TEST_P(StepAllocations, OursAreNone) {
  const auto& [preset, threads] = GetParam();
  CountSteps(Dense(), 64, preset, threads, 10);
  EXPECT_EQ(ours, 0);
  RecordProperty("library_calls_a_step", library_calls / 10);
  RecordProperty("library_bytes_a_step", static_cast<int>(library_bytes / 10));
  CountSteps(Images(), 16, preset, threads, 3);
  EXPECT_EQ(ours, 0);
  CountSteps(Sequences(), 16, preset, threads, 3);
  EXPECT_EQ(ours, 0);
}

INSTANTIATE_TEST_SUITE_P(Presets, StepAllocations,
                         testing::Combine(testing::Values(Preset::kDefault, Preset::kRecommended),
                                          testing::Values(1, 2)));

TEST(StepAllocations, OfTheLibraryAreBookkeepingWithBlockedWeights) {
  CountSteps(Dense(), 64, Preset::kRecommended, 2, 10);
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
