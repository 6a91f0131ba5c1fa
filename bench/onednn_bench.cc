// Step time of the oneDNN engine on FCN-R, beside the GEMM peak of the same library in the same
// run, so that ratios can be formed whatever the machine's clock does. "gflops" counts 2 x (3 x MAC
// - MAC of the first layer), as everywhere in dlbench.

#include <benchmark/benchmark.h>
#include <oneapi/dnnl/dnnl.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine.h"
#include "parallel.h"

namespace {

using dlbench::onednn::Activation;
using dlbench::onednn::Engine;
using dlbench::onednn::NetworkSpec;
using dlbench::onednn::Preset;

const std::vector<std::int64_t> kWidths = {784, 2048, 4096, 1024, 10};

NetworkSpec FcnR() {
  NetworkSpec spec;
  spec.input_width = kWidths[0];
  for (std::size_t i = 1; i < kWidths.size(); ++i) {
    spec.layers.push_back({});
    spec.layers.back().name = "fc" + std::to_string(i);
    spec.layers.back().units = kWidths[i];
    if (i + 1 == kWidths.size()) break;
    spec.layers.push_back({});
    spec.layers.back().name = "sigmoid" + std::to_string(i);
    spec.layers.back().activation = Activation::kSigmoid;
  }
  return spec;
}

double StepFlop(std::int64_t batch) {
  double macs = 0.0;
  for (std::size_t i = 1; i < kWidths.size(); ++i) {
    macs += 3.0 * static_cast<double>(kWidths[i - 1] * kWidths[i]);
  }
  macs -= static_cast<double>(kWidths[0] * kWidths[1]);
  return 2.0 * macs * static_cast<double>(batch);
}

/// Numbers in (-bound, bound) that repeat after a prime number of elements.
std::vector<float> Fill(std::size_t count, float bound) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = bound * (static_cast<float>((i * 7919) % 1009) / 504.5F - 1.0F);
  }
  return values;
}

void SetRate(benchmark::State& state, double flop) {
  state.counters["gflops"] =
      benchmark::Counter(flop * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

/// Arguments: batch, threads, preset (0 default, 1 recommended).
void BM_FcnStep(benchmark::State& state) {
  const std::int64_t batch = state.range(0);
  const Preset preset = state.range(2) == 0 ? Preset::kDefault : Preset::kRecommended;
  Engine engine(FcnR(), {batch, static_cast<int>(state.range(1)), preset});
  for (std::size_t i = 0; i < engine.parameter_count(); ++i) {
    std::size_t count = 1;
    for (const std::int64_t size : engine.parameter(i).shape) {
      count *= static_cast<std::size_t>(size);
    }
    const auto inputs = static_cast<float>(engine.parameter(i).shape.back());
    engine.Load(i, Fill(count, 1.0F / std::sqrt(inputs)).data());
  }
  const std::vector<float> x = Fill(static_cast<std::size_t>(batch * kWidths[0]), 1.0F);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 10);
  engine.Step(x.data(), labels.data(), 0.05);
  for (auto _ : state) benchmark::DoNotOptimize(engine.Step(x.data(), labels.data(), 0.05));
  SetRate(state, StepFlop(batch));
  state.counters["planned_mb"] = static_cast<double>(engine.planned_bytes()) * 1e-6;
  state.SetLabel(preset == Preset::kDefault ? "default" : "recommended");
}

/// Argument: threads. The peak to divide by.
void BM_Gemm(benchmark::State& state) {
  constexpr std::int64_t kSize = 2048;
  dlbench::onednn::SetThreads(static_cast<int>(state.range(0)));
  const std::vector<float> a = Fill(kSize * kSize, 1.0F);
  const std::vector<float> b = a;
  std::vector<float> c(kSize * kSize);
  for (auto _ : state) {
    dnnl_sgemm('N', 'N', kSize, kSize, kSize, 1.0F, a.data(), kSize, b.data(), kSize, 0.0F,
               c.data(), kSize);
  }
  SetRate(state, 2.0 * kSize * kSize * kSize);
}

BENCHMARK(BM_Gemm)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(
    benchmark::kMillisecond);
BENCHMARK(BM_FcnStep)
    ->ArgNames({"batch", "threads", "preset"})
    ->ArgsProduct({{64, 1024}, {1, 2}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
