#include "engine.h"

#include <gtest/gtest.h>

#include "layers/product.h"
#include "naive_network.h"
#include "parallel.h"

namespace dlbench::onednn {
namespace {

/// An engine and its float64 double with the same start, fed the same batches.
class Pair {
 public:
  Pair(NetworkSpec spec, const EngineOptions& options)
      : spec_(std::move(spec)),
        batch_(options.batch),
        naive(spec_, options.batch, 7),
        engine(ToNetwork(spec_), options) {
    Reset();
  }
  void Reset() {
    for (std::size_t i = 0; i < engine.parameter_count(); ++i) {
      engine.Load(i, naive.start(i).data());
    }
  }
  std::vector<float> X(unsigned step) const {
    return RandomNumbers(static_cast<std::size_t>(batch_ * spec_.input_width), 100 + step);
  }
  std::vector<std::int32_t> Labels(unsigned step) const {
    return RandomLabels(static_cast<std::size_t>(batch_), engine.classes(), 200 + step);
  }
  double EngineStep(unsigned step, double rate) {
    const std::vector<float> x = X(step);
    const std::vector<std::int32_t> labels = Labels(step);
    return engine.Step(
        {.x = x.data(), .labels = labels.data(), .learning_rate = static_cast<float>(rate)});
  }
  double NaiveStep(unsigned step, double rate) { return naive.Step(X(step), Labels(step), rate); }

  using Read = void (Engine::*)(std::size_t, float*) const;
  std::vector<float> Get(std::size_t index, Read read) const {
    std::vector<float> out(naive.start(index).size());
    (engine.*read)(index, out.data());
    return out;
  }
  std::vector<float> Logits() const {
    std::vector<float> logits(static_cast<std::size_t>(engine.logit_count()));
    engine.ReadLogits(logits.data());
    return logits;
  }

 private:
  NetworkSpec spec_;
  std::int64_t batch_;

 public:
  NaiveNetwork naive;
  Engine engine;
};

/// Three steps, all quantities after each. Limits: float32 sums of at most 130 terms.
void ExpectAgrees(const NetworkSpec& spec, const EngineOptions& options) {
  Pair pair(spec, options);
  ASSERT_EQ(pair.engine.parameter_count(), pair.naive.parameter_count());
  for (unsigned step = 0; step < 3; ++step) {
    const double rate = 0.1 / (step + 1);
    const double loss = pair.EngineStep(step, rate);
    const double expected = pair.NaiveStep(step, rate);
    EXPECT_NEAR(loss, expected, 1e-5 * expected) << "step " << step;
    EXPECT_LT(RelativeError(pair.Logits(), pair.naive.logits), 1e-5) << "step " << step;
    for (std::size_t i = 0; i < pair.naive.parameter_count(); ++i) {
      const std::string& name = pair.engine.parameter(i).name;
      EXPECT_LT(RelativeError(pair.Get(i, &Engine::ReadGradient), pair.naive.gradients[i]), 1e-5)
          << name << ", step " << step;
      EXPECT_LT(RelativeError(pair.Get(i, &Engine::ReadValues), pair.naive.values[i]), 1e-5)
          << name << ", step " << step;
      if (!pair.engine.has_velocity()) continue;
      EXPECT_LT(RelativeError(pair.Get(i, &Engine::ReadVelocity), pair.naive.velocities[i]), 1e-5)
          << name << ", step " << step;
    }
  }
}

struct Shape {
  std::int64_t batch, input;
  std::vector<std::int64_t> widths;
};

class EngineShapes : public testing::TestWithParam<std::tuple<Shape, Activation, Preset>> {};

TEST_P(EngineShapes, AgreesWithFloat64) {
  const auto& [shape, activation, preset] = GetParam();
  ExpectAgrees(Chain(shape.input, shape.widths, activation), {shape.batch, 1, preset});
}

INSTANTIATE_TEST_SUITE_P(
    OddAndSmall, EngineShapes,
    testing::Combine(testing::Values(Shape{1, 3, {2}}, Shape{3, 7, {130, 3}},
                                     Shape{17, 33, {50, 17, 5}}, Shape{5, 1, {1, 1, 2}},
                                     Shape{64, 100, {129, 65, 10}}, Shape{33, 128, {96, 64, 11}},
                                     Shape{131, 33, {50, 7}}),
                     testing::Values(Activation::kSigmoid, Activation::kTanh, Activation::kRelu),
                     testing::Values(Preset::kDefault, Preset::kRecommended)));

class EngineSgd : public testing::TestWithParam<std::tuple<float, float, bool, bool, Preset>> {};

TEST_P(EngineSgd, AgreesWithFloat64) {
  const auto& [momentum, decay, nesterov, mean, preset] = GetParam();
  NetworkSpec spec = Chain(19, {37, 6}, Activation::kTanh);
  spec.sgd = {momentum, decay, nesterov};
  spec.mean_loss = mean;
  spec.layers[0].bias_decays = false;
  spec.layers[2].weight_decays = false;
  ExpectAgrees(spec, {9, 1, preset});
}

INSTANTIATE_TEST_SUITE_P(Options, EngineSgd,
                         testing::Combine(testing::Values(0.0F, 0.9F), testing::Values(0.0F, 0.01F),
                                          testing::Bool(), testing::Bool(),
                                          testing::Values(Preset::kDefault, Preset::kRecommended)));

TEST(Engine, EveryLayoutGivesTheSameNumbers) {
  NetworkSpec spec = Chain(33, {50, 17, 5}, Activation::kSigmoid);
  spec.sgd = {0.9F, 0.01F, true};
  for (const WeightLayout layout :
       {WeightLayout::kRows, WeightLayout::kColumns, WeightLayout::kBlocked}) {
    ExpectAgrees(spec, {17, 1, Preset::kRecommended, layout});
    ExpectAgrees(spec, {131, 2, Preset::kDefault, layout});
  }
}

TEST(Engine, SmallBatchesTakeBlockedWeightsAndLargeOnesTransposedOnes) {
  EXPECT_EQ(LayoutFor(Preset::kRecommended, 1), WeightLayout::kBlocked);
  EXPECT_EQ(LayoutFor(Preset::kRecommended, 128), WeightLayout::kBlocked);
  EXPECT_EQ(LayoutFor(Preset::kRecommended, 129), WeightLayout::kColumns);
  EXPECT_EQ(LayoutFor(Preset::kDefault, 1), WeightLayout::kRows);
  EXPECT_EQ(LayoutFor(Preset::kDefault, 4096), WeightLayout::kRows);
}

TEST(Engine, TrainsLayersWithoutBias) {
  NetworkSpec spec = Chain(19, {37, 6}, Activation::kRelu);
  spec.layers[0].has_bias = false;
  spec.layers[2].has_bias = false;
  ExpectAgrees(spec, {9, 1, Preset::kDefault});
  ExpectAgrees(spec, {9, 1, Preset::kRecommended});
}

TEST(Engine, TakesActivationsAnywhereInTheChain) {
  NetworkSpec spec = Chain(19, {37, 23, 6}, Activation::kTanh);
  LayerSpec extra;
  extra.activation = Activation::kSigmoid;
  for (const auto& [name, at] : {std::pair{"second", 2},   // after another activation
                                 std::pair{"first", 0},    // before any parameter
                                 std::pair{"last", 7}}) {  // as the logits
    extra.name = name;
    spec.layers.insert(spec.layers.begin() + at, extra);
  }
  ExpectAgrees(spec, {9, 1, Preset::kDefault});
  ExpectAgrees(spec, {9, 1, Preset::kRecommended});
}

TEST(Engine, TrainsStackedDenseLayersWithoutActivations) {
  NetworkSpec spec = Chain(19, {37, 6}, Activation::kTanh);
  spec.layers.erase(spec.layers.begin() + 1);
  ExpectAgrees(spec, {9, 1, Preset::kDefault});
  ExpectAgrees(spec, {9, 1, Preset::kRecommended});
}

TEST(Engine, ThreadsGiveTheSameNumbers) {
  NetworkSpec spec = Chain(100, {129, 65, 10}, Activation::kSigmoid);
  spec.sgd = {0.9F, 0.01F, true};
  ExpectAgrees(spec, {64, 2, Preset::kDefault});
  ExpectAgrees(spec, {64, 2, Preset::kRecommended});
}

TEST(Engine, SetsTheThreadsOfTheRuntime) {
  for (const int threads : {1, 2, 3}) {
    const Engine engine(ToNetwork(Chain(5, {4}, Activation::kRelu)),
                        {2, threads, Preset::kDefault});
    EXPECT_EQ(MaxThreads(), threads);
    EXPECT_EQ(engine.EffectiveSettings().at("omp_get_max_threads"), std::to_string(threads));
  }
}

TEST(Engine, ResetReturnsToTheStartExactly) {
  for (const Preset preset : {Preset::kDefault, Preset::kRecommended}) {
    NetworkSpec spec = Chain(33, {50, 17, 5}, Activation::kSigmoid);
    spec.sgd = {0.9F, 0.01F, false};
    Pair pair(spec, {17, 1, preset});
    const double first = pair.EngineStep(0, 0.1);
    const double second = pair.EngineStep(1, 0.1);
    pair.Reset();
    for (std::size_t i = 0; i < pair.engine.parameter_count(); ++i) {
      EXPECT_EQ(pair.Get(i, &Engine::ReadValues), pair.naive.start(i));
    }
    EXPECT_EQ(pair.EngineStep(0, 0.1), first);
    EXPECT_EQ(pair.EngineStep(1, 0.1), second);
  }
}

TEST(Engine, PresetsAgreeWithEachOther) {
  NetworkSpec spec = Chain(100, {129, 65, 10}, Activation::kSigmoid);
  spec.sgd = {0.9F, 0.01F, false};
  Pair plain(spec, {17, 1, Preset::kDefault});
  Pair blocked(spec, {17, 1, Preset::kRecommended});
  for (unsigned step = 0; step < 4; ++step) {
    const double loss = plain.EngineStep(step, 0.05);
    EXPECT_NEAR(blocked.EngineStep(step, 0.05), loss, 1e-5 * loss);
  }
  for (std::size_t i = 0; i < plain.engine.parameter_count(); ++i) {
    const std::vector<float> values = plain.Get(i, &Engine::ReadValues);
    EXPECT_LT(RelativeError(blocked.Get(i, &Engine::ReadValues),
                            std::vector<double>(values.begin(), values.end())),
              1e-5);
  }
}

TEST(Engine, PaddingOfBlockedLayoutsStaysZero) {
  NetworkSpec spec = Chain(33, {50, 17, 5}, Activation::kSigmoid);
  spec.sgd = {0.9F, 0.01F, true};
  Pair pair(spec, {17, 1, Preset::kRecommended});
  for (unsigned step = 0; step < 3; ++step) pair.EngineStep(step, 0.1);
  for (std::size_t i = 0; i < pair.engine.parameter_count(); ++i) {
    const Parameter& parameter = pair.engine.parameter(i);
    for (const dnnl::memory& memory : {parameter.values, parameter.gradient, parameter.velocity}) {
      const auto* stored = static_cast<const float*>(memory.get_data_handle());
      const auto zeros = std::count(stored, stored + parameter.stored_elements, 0.0F);
      const auto padding =
          parameter.stored_elements - static_cast<std::int64_t>(pair.naive.start(i).size());
      EXPECT_GE(zeros, padding) << parameter.name;
    }
  }
}

TEST(Engine, RunsInStrictFloat32WhateverTheEnvironmentSays) {
  setenv("ONEDNN_DEFAULT_FPMATH_MODE", "BF16", 1);
  const Engine engine(ToNetwork(Chain(5, {4}, Activation::kRelu)), {2, 1, Preset::kRecommended});
  EXPECT_EQ(dnnl::get_default_fpmath_mode(), dnnl::fpmath_mode::strict);
  EXPECT_EQ(getenv("ONEDNN_DEFAULT_FPMATH_MODE"), nullptr);
}

TEST(Engine, RecordsLayoutsImplementationsAndBytes) {
  const Engine engine(ToNetwork(Chain(100, {64, 10}, Activation::kRelu)),
                      {16, 1, Preset::kDefault});
  const auto settings = engine.EffectiveSettings();
  EXPECT_EQ(settings.at("fc1.weights"), "plain, strides 100,1");
  EXPECT_FALSE(settings.at("fc2.backward_data").empty());
  EXPECT_EQ(settings.count("fc1.backward_data"), 0U) << "nobody needs the gradient of the data";
  EXPECT_EQ(settings.at("onednn.fpmath_mode"), "strict");
  // Weights and gradients at least.
  EXPECT_GE(engine.planned_bytes(), 2U * 4U * (100U * 64U + 64U + 64U * 10U + 10U));
}

TEST(Engine, RefusesAChainWithoutParameters) {
  NetworkSpec spec;
  spec.input_width = 4;
  spec.layers.push_back({});
  spec.layers.back().name = "act";
  spec.layers.back().activation = Activation::kRelu;
  EXPECT_THROW(Engine(ToNetwork(spec), {2, 1, Preset::kDefault}), std::runtime_error);
}

}  // namespace
}  // namespace dlbench::onednn
