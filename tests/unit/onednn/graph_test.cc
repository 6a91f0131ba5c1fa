// Whole networks: ties, state, layouts, what is refused and every shipped file.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "adapter.h"
#include "engine.h"
#include "memory_plan.h"
#include "naive_graph.h"
#include "naive_network.h"
#include "text_network.h"

namespace dlbench::onednn {
namespace {

using network::OfImages;
using network::OfTokens;

const std::string kConv =
    R"({ name = "c", op = "conv2d", channels = 5, kernel = [3, 3], stride = [1, 1], )"
    R"(padding = [1, 1, 1, 1], groups = 1, bias = true })";
const std::string kNorm = R"({ name = "n", op = "batch_norm", epsilon = 1e-5, momentum = 0.1, )"
                          R"(running_variance = "unbiased" })";

/// Loads each parameter with random numbers of its own.
void LoadRandom(Engine& engine) {
  for (std::size_t i = 0; i < engine.parameter_count(); ++i) {
    const adapter::Shape& shape = engine.parameter(i).shape;
    const std::int64_t count = adapter::ElementCount(shape);
    std::vector<float> values =
        RandomNumbers(static_cast<std::size_t>(count), 5 + static_cast<unsigned>(i));
    const float fan_in = static_cast<float>(count) / static_cast<float>(shape[0]);
    for (float& value : values) value /= std::sqrt(fan_in);
    engine.Load(i, values.data());
  }
}

double StepOn(Engine& engine, const adapter::Network& network, const NaiveBatch& batch) {
  StepInput input{batch.x.data(), batch.tokens.data(), batch.labels.data(), {}, 0.01F};
  for (const adapter::Node& node : network.nodes) {
    if (node.op == "dropout") input.masks.push_back(batch.masks.at(node.name).data());
  }
  return engine.Step(input);
}

std::vector<float> Gradient(const Engine& engine, std::size_t index) {
  std::vector<float> values(
      static_cast<std::size_t>(adapter::ElementCount(engine.parameter(index).shape)));
  engine.ReadGradient(index, values.data());
  return values;
}

TEST(MaxPool, ATieGoesToTheFirst) {
  for (const int channels : {3, 16}) {
    for (const Preset preset : {Preset::kDefault, Preset::kRecommended}) {
      const adapter::Network network = NetworkOf(
          OfImages("[4, 2, 2]",
                   R"({ name = "c", op = "conv2d", channels = )" + std::to_string(channels) +
                       R"(, kernel = [1, 1], stride = [1, 1], padding = [0, 0, 0, 0], )"
                       R"(groups = 1, bias = false }, { name = "p", op = "max_pool2d", )"
                       R"(kernel = [2, 2], stride = [2, 2], padding = [0, 0, 0, 0], )"
                       R"(ceil_mode = false })"),
          1);
      Engine engine(network, {1, 1, preset});
      LoadRandom(engine);
      const std::vector<float> ones(static_cast<std::size_t>(4 * channels), 1.0F);
      engine.Load(0, ones.data());
      // Pixel i has only channel i, so that all results are equal and the gradient of the weight
      // of channel i tells whether pixel i was taken.
      std::vector<float> x(16, 0.0F);
      for (std::size_t i = 0; i < 4; ++i) x[i * 4 + i] = 1.0F;
      const std::vector<std::int32_t> labels = {1};
      engine.Step({.x = x.data(), .labels = labels.data(), .learning_rate = 0.1F});
      const std::vector<float> gradient = Gradient(engine, 0);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        EXPECT_EQ(gradient[i] != 0.0F, i % 4 == 0) << i << " of " << channels;
      }
    }
  }
}

TEST(Engine, ResetBuffersReturnsRunningStatisticsAndStates) {
  const adapter::Network network =
      NetworkOf(OfTokens(R"({ name = "e", op = "embedding", units = 4 }, )"
                         R"({ name = "l", op = "lstm", units = 3, state = "carried" })"),
                2);
  Engine engine(network, {2, 1, Preset::kRecommended});
  LoadRandom(engine);
  const NaiveBatch batch(network, 2, 1);
  const double first = StepOn(engine, network, batch);
  std::vector<float> state(6);
  engine.ReadBuffer("l.hidden", state.data());
  EXPECT_EQ(std::count(state.begin(), state.end(), 0.0F), 0);
  engine.ResetBuffers();
  engine.ReadBuffer("l.hidden", state.data());
  EXPECT_EQ(std::count(state.begin(), state.end(), 0.0F), 6);
  LoadRandom(engine);
  EXPECT_EQ(StepOn(engine, network, batch), first);
  EXPECT_THROW(engine.ReadBuffer("l.memory", state.data()), std::runtime_error);
}

TEST(Engine, ThreadsAgreeOnEveryKindOfLayer) {
  const adapter::Network network = NetworkOf(
      OfImages("[3, 8, 8]", kConv + ", " + kNorm + R"(, { name = "r", op = "relu" })"), 6);
  std::vector<double> losses;
  for (const int threads : {1, 2, 3}) {
    Engine engine(network, {6, threads, Preset::kRecommended});
    LoadRandom(engine);
    for (unsigned step = 0; step < 3; ++step) {
      losses.push_back(StepOn(engine, network, NaiveBatch(network, 6, step)));
    }
  }
  for (std::size_t i = 3; i < losses.size(); ++i) EXPECT_NEAR(losses[i], losses[i % 3], 1e-5);
}

TEST(Engine, PaddingOfBlockedConvolutionWeightsStaysZero) {
  const adapter::Network network =
      NetworkOf(OfImages("[3, 8, 8]", kConv + R"(, { name = "s", op = "sigmoid" })"), 2);
  Engine engine(network, {2, 1, Preset::kRecommended});
  LoadRandom(engine);
  for (unsigned step = 0; step < 3; ++step) StepOn(engine, network, NaiveBatch(network, 2, step));
  const Parameter& weight = engine.parameter(0);
  const std::int64_t padding = weight.stored_elements - adapter::ElementCount(weight.shape);
  EXPECT_GT(padding, 0);
  for (const dnnl::memory& memory : {weight.values, weight.gradient, weight.velocity}) {
    const auto* stored = static_cast<const float*>(memory.get_data_handle());
    EXPECT_GE(std::count(stored, stored + weight.stored_elements, 0.0F), padding);
  }
}

TEST(Engine, ADenseLayerTakesAnImageAsItLies) {
  const std::string text =
      OfImages("[3, 8, 8]",
               R"({ name = "c", op = "conv2d", channels = 32, kernel = [3, 3], stride = [1, 1], )"
               R"(padding = [1, 1, 1, 1], groups = 1, bias = true })");
  const Engine engine(NetworkOf(text, 2), {2, 1, Preset::kRecommended});
  for (const auto& [key, value] : engine.EffectiveSettings()) {
    EXPECT_EQ(key.find("flat.forward_reorders"), std::string::npos) << value;
    EXPECT_EQ(key.find("out.forward_reorders"), std::string::npos) << value;
  }
}

TEST(Engine, RefusesADivisorThatOnednnHasNot) {
  const auto network =
      NetworkOf(OfImages("[3, 9, 9]",
                         R"({ name = "p", op = "avg_pool2d", kernel = [3, 3], stride = [2, 2], )"
                         R"(padding = [1, 1, 0, 0], ceil_mode = true, count_padding = true }, )" +
                             kConv),
                2);
  try {
    Engine engine(network, {2, 1, Preset::kDefault});
    FAIL();
  } catch (const adapter::Unsupported& error) {
    EXPECT_EQ(std::string(error.what()).rfind("node 'p' (avg_pool2d): oneDNN has no divisor", 0),
              0U)
        << error.what();
  }
}

TEST(MemoryPlan, SharesBytesOnlyBetweenTensorsThatNeverMeet) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  MemoryPlan plan(engine);
  const auto desc = Context::Matrix(1, 1024);  // 4096 bytes
  struct Life {
    int first, last;
  };
  const std::vector<Life> lives = {{0, 3}, {1, 1}, {2, 5}, {4, 4}, {4, 6}, {3, 3}};
  std::vector<dnnl::memory> views;
  for (const Life& life : lives) {
    const int slot = plan.Reserve(desc.get_size(), life.first);
    plan.Use(slot, life.last);
    views.push_back(plan.View(slot, 0, desc));
  }
  plan.Commit();
  for (std::size_t i = 0; i < lives.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool meet = lives[i].first <= lives[j].last && lives[j].first <= lives[i].last;
      const bool same = views[i].get_data_handle() == views[j].get_data_handle();
      EXPECT_FALSE(meet && same) << i << " " << j;
    }
  }
  EXPECT_EQ(plan.bytes(), 3U * 4096U);  // at most three live at once
}

/// Every shipped network at a batch of 2 in both presets, on data from a seed.
TEST(Engine, TrainsEveryShippedNetwork) {
  for (const auto& entry : std::filesystem::directory_iterator(DLBENCH_SOURCE_DIR "/networks")) {
    if (entry.path().extension() != ".toml") continue;
    const std::string name = entry.path().stem();
    if (name == "fcn-5" || name == "fcn-8") continue;  // half a gigabyte of the same layers
    const adapter::Network network = FromParsed(network::LoadNetwork(entry.path()), 2);
    std::vector<double> losses;
    for (const Preset preset : {Preset::kDefault, Preset::kRecommended}) {
      Engine engine(network, {2, 2, preset});
      LoadRandom(engine);
      losses.push_back(StepOn(engine, network, NaiveBatch(network, 2, 3)));
    }
    EXPECT_TRUE(std::isfinite(losses[0])) << name;
    EXPECT_NEAR(losses[0], losses[1], 1e-3 * losses[0]) << name;
  }
}

TEST(OnednnAdapter, HandsOutTokensMasksAndBuffersOfTheBatch) {
  adapter::Spec spec;
  spec.network = NetworkOf(OfTokens(R"({ name = "e", op = "embedding", units = 4 }, )"
                                    R"({ name = "l", op = "lstm", units = 3, state = "carried" }, )"
                                    R"({ name = "d", op = "dropout", probability = 0.5 })"),
                           2);
  spec.batch = 2;
  spec.pool = 2;
  spec.preset = "recommended";
  spec.sample_size = 7;
  spec.labels_per_sample = 7;
  const std::vector<std::int32_t> tokens = RandomLabels(28, 11, 1), labels = RandomLabels(28, 2, 2);
  std::vector<std::uint8_t> masks(84, 1);
  std::fill(masks.begin() + 42, masks.end(), std::uint8_t{0});  // the second batch: all dropped
  spec.tokens = tokens.data();
  spec.labels = labels.data();
  std::vector<std::vector<float>> start;
  for (adapter::Node& node : spec.network.nodes) {
    if (node.op == "dropout") node.mask = masks.data();
    for (adapter::Parameter& parameter : node.parameters) {
      start.push_back(RandomNumbers(parameter.count, 20));
      parameter.initial = start.back().data();
    }
  }
  OnednnAdapter adapter;
  adapter.Prepare(spec);
  std::vector<float> logits(28);
  adapter.Step(1, 0.1);
  adapter.ReadLogits(logits.data());
  EXPECT_EQ(std::count(logits.begin(), logits.end(), 0.0F), 28) << "nothing is left, no bias";
  adapter.Step(0, 0.1);
  adapter.ReadLogits(logits.data());
  EXPECT_EQ(std::count(logits.begin(), logits.end(), 0.0F), 0);
  const adapter::Buffer& cell = *spec.network.nodes[1].FindBuffer("cell");
  std::vector<float> state(cell.count);
  adapter.ReadBuffer(cell, state.data());
  EXPECT_EQ(std::count(state.begin(), state.end(), 0.0F), 0);
  adapter.Reset();
  adapter.ReadBuffer(cell, state.data());
  EXPECT_EQ(std::count(state.begin(), state.end(), 0.0F), 6);
}

}  // namespace
}  // namespace dlbench::onednn
