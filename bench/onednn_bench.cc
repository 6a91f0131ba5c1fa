// Step time of the oneDNN engine on the shipped networks, beside the GEMM peak of the same library
// in the same run, so that ratios can be formed whatever the machine's clock does. "gflops" counts
// network::TrainingStepFlops, as everywhere in dlbench.

#include <benchmark/benchmark.h>
#include <oneapi/dnnl/dnnl.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "engine.h"
#include "network/cost.h"
#include "network/network.h"
#include "network/parse.h"
#include "parallel.h"

namespace {

using dlbench::onednn::Engine;
using dlbench::onednn::Preset;

dlbench::network::Network Load(const std::string& name) {
  auto network =
      dlbench::network::LoadNetwork(std::string(DLBENCH_SOURCE_DIR "/networks/") + name + ".toml");
  if (!network.ok()) {
    std::fprintf(stderr, "%s\n", network.error().message().c_str());
    std::exit(1);
  }
  return std::move(network).value();
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

/// One batch for a network: data, labels and masks of its own.
struct Data {
  std::vector<float> x;
  std::vector<std::int32_t> tokens, labels;
  std::vector<std::vector<std::uint8_t>> masks;
  dlbench::onednn::StepInput input;

  Data(const dlbench::adapter::Network& network, std::int64_t batch) {
    namespace adapter = dlbench::adapter;
    const auto size = static_cast<std::size_t>(batch * adapter::ElementCount(network.input_shape));
    const auto rows = static_cast<std::size_t>(batch * adapter::ElementCount(network.LabelShape()));
    if (network.input_kind == "tokens") {
      tokens = Ids(size, network.vocabulary);
    } else {
      x = Fill(size, 1.0F);
    }
    labels = Ids(rows, network.classes);
    for (const adapter::Node& node : network.nodes) {
      if (node.op != "dropout") continue;
      masks.emplace_back(
          static_cast<std::size_t>(batch * adapter::ElementCount(node.output_shape)));
      for (std::size_t i = 0; i < masks.back().size(); ++i) masks.back()[i] = i % 3 != 0 ? 1 : 0;
    }
    input.x = x.data();
    input.tokens = tokens.data();
    input.labels = labels.data();
    for (const auto& mask : masks) input.masks.push_back(mask.data());
    input.learning_rate = 1e-4F;
  }
  static std::vector<std::int32_t> Ids(std::size_t count, std::int64_t end) {
    std::vector<std::int32_t> ids(count);
    for (std::size_t i = 0; i < count; ++i) {
      ids[i] = static_cast<std::int32_t>(i * 7919 % static_cast<std::size_t>(end));
    }
    return ids;
  }
};

void LoadWeights(Engine& engine) {
  for (std::size_t i = 0; i < engine.parameter_count(); ++i) {
    const dlbench::adapter::Shape& shape = engine.parameter(i).shape;
    const auto count = static_cast<std::size_t>(dlbench::adapter::ElementCount(shape));
    const auto fan_in = static_cast<float>(count) / static_cast<float>(shape.front());
    engine.Load(i, Fill(count, 1.0F / std::sqrt(fan_in)).data());
  }
}

/// Arguments: batch, threads, preset (0 default, 1 recommended).
void BM_Step(benchmark::State& state, const std::string& name) {
  const std::int64_t batch = state.range(0);
  const Preset preset = state.range(2) == 0 ? Preset::kDefault : Preset::kRecommended;
  const dlbench::network::Network network = Load(name);
  const auto json = dlbench::adapter::Json::Parse(dlbench::network::ToProtocolJson(network));
  const dlbench::adapter::Network wanted = dlbench::adapter::ReadNetwork(json, batch);
  Engine engine(wanted, {batch, static_cast<int>(state.range(1)), preset});
  LoadWeights(engine);
  const Data data(wanted, batch);
  double loss = engine.Step(data.input);
  for (auto _ : state) benchmark::DoNotOptimize(loss = engine.Step(data.input));
  SetRate(state, static_cast<double>(dlbench::network::TrainingStepFlops(network, batch)));
  state.counters["planned_mb"] = static_cast<double>(engine.planned_bytes()) * 1e-6;
  state.counters["loss"] = loss;
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
BENCHMARK_CAPTURE(BM_Step, fcn_r, std::string("fcn-r"))
    ->ArgNames({"batch", "threads", "preset"})
    ->ArgsProduct({{64, 1024}, {1, 2}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// A network at the batch that its experiments use.
#define DLBENCH_STEP(label, name, batch)               \
  BENCHMARK_CAPTURE(BM_Step, label, std::string(name)) \
      ->ArgNames({"batch", "threads", "preset"})       \
      ->ArgsProduct({{batch}, {1, 2}, {0, 1}})         \
      ->UseRealTime()                                  \
      ->Unit(benchmark::kMillisecond)
DLBENCH_STEP(alexnet_r, "alexnet-r", 1024);
DLBENCH_STEP(resnet_56, "resnet-56", 128);
DLBENCH_STEP(alexnet_s, "alexnet-s", 16);
DLBENCH_STEP(resnet_50, "resnet-50", 16);
DLBENCH_STEP(lstm_32, "lstm-32", 64);

}  // namespace

BENCHMARK_MAIN();
