// Every layer against central differences and against values computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "network/parse.h"
#include "small_network.h"

namespace dlbench::reference {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr std::int64_t kBatch = 3;

/// A network of `layers` on an input of `shape` with a loss over three classes; the logits are
/// called "out".
network::Network Parsed(const std::string& shape, const std::string& layers, int vocabulary = 0) {
  const std::string text =
      "format = 1\nname = \"n\"\ntitle = \"N\"\ndescription = \"d\"\nclasses = 3\nlayers = [ " +
      layers + " ]\n[input]\nshape = " + shape + "\ndataset = \"synthetic\"\n" +
      (vocabulary > 0 ? "kind = \"tokens\"\nvocabulary = " + std::to_string(vocabulary) + "\n"
                      : "scale = 1.0\noffset = 0.0\n") +
      R"([initial]
weights = { distribution = "uniform_fan_in", gain = 1.0 }
biases = { distribution = "constant", value = 0.25 }
[loss]
kind = "softmax_cross_entropy"
reduction = "mean"
input = "out"
[optimizer]
kind = "sgd"
learning_rate = 0.1
momentum = 0.9
weight_decay = 0.01
decays = "weights"
nesterov = false
)";
  auto network = network::ParseNetwork(text, "test.toml");
  EXPECT_TRUE(network.ok()) << network.error().message();
  return std::move(network).value();
}

const char* const kOut =
    R"({ name = "flat", op = "flatten" }, { name = "out", op = "dense", units = 3, bias = true })";

std::string Conv(const std::string& name, int channels, const std::string& rest) {
  return R"({ name = ")" + name + R"(", op = "conv2d", channels = )" + std::to_string(channels) +
         ", " + rest + " }";
}
const char* const kPlainConv =
    R"({ name = "c0", op = "conv2d", channels = 4, kernel = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1], groups = 1, bias = true })";
/// A layer between a convolution, which needs its gradient, and the logits.
std::string After(const std::string& layer) {
  return std::string(kPlainConv) + ", " + layer + ", " + kOut;
}

struct Case {
  const char* name;
  network::Network network;
};

std::vector<Case> Cases() {
  const std::string image = "[2, 7, 6]";
  const std::string window = "kernel = [3, 3], stride = [2, 2], ";
  return {
      {"conv strided", Parsed(image, Conv("c1", 4,
                                          "kernel = [3, 2], stride = [2, 3], padding = [1, 0, 2, "
                                          "1], groups = 1, bias = true") +
                                         R"(, { name = "t", op = "tanh" }, )" +
                                         Conv("c2", 3,
                                              "kernel = [2, 3], stride = [1, 2], padding = [0, 2, "
                                              "1, 0], groups = 1, bias = false") +
                                         ", " + kOut)},
      {"conv grouped", Parsed(image, std::string(kPlainConv) + ", " +
                                         Conv("c1", 6,
                                              "kernel = [3, 1], stride = [1, 1], padding = [1, 0, "
                                              "1, 0], groups = 2, bias = true") +
                                         ", " + kOut)},
      {"max pool", Parsed(image, After(R"({ name = "p", op = "max_pool2d", )" + window +
                                       "padding = [1, 0, 1, 1], ceil_mode = false }"))},
      {"max pool up", Parsed(image, After(R"({ name = "p", op = "max_pool2d", )" + window +
                                          "padding = [0, 0, 0, 0], ceil_mode = true }"))},
      {"avg pool counted",
       Parsed(image, After(R"({ name = "p", op = "avg_pool2d", )" + window +
                           "padding = [1, 1, 0, 1], ceil_mode = true, count_padding = true }"))},
      {"avg pool uncounted",
       Parsed(image, After(R"({ name = "p", op = "avg_pool2d", )" + window +
                           "padding = [1, 1, 0, 1], ceil_mode = true, count_padding = false }"))},
      {"global pool", Parsed(image, After(R"({ name = "p", op = "global_avg_pool" })"))},
      {"lrn",
       Parsed(image,
              After(R"({ name = "l", op = "lrn", size = 3, alpha = 1.0, beta = 0.75, k = 2.0 })"))},
      {"batch norm",
       Parsed(
           image,
           After(
               R"({ name = "b", op = "batch_norm", epsilon = 0.1, momentum = 0.3, running_variance = "unbiased" })"))},
      {"batch norm of vectors",
       Parsed(
           "[5]",
           R"({ name = "d", op = "dense", units = 4, bias = true }, { name = "b", op = "batch_norm", epsilon = 0.1, momentum = 0.3, running_variance = "biased" }, { name = "out", op = "dense", units = 3, bias = true })")},
      {"shortcuts",
       Parsed(
           image,
           std::string(kPlainConv) +
               R"(, { name = "s", op = "subsample_pad", stride = 2, channels_before = 1, channels_after = 2 }, )" +
               Conv("c1", 7,
                    "kernel = [1, 1], stride = [2, 2], padding = [0, 0, 0, 0], groups = 1, bias = "
                    "true")
                   .replace(0, 1, "{ inputs = [\"c0\"], ") +
               R"(, { name = "a", op = "add", inputs = ["s", "c1"] }, { name = "twice", op = "add", inputs = ["a", "a"] }, )" +
               kOut)},
      {"lstm reset",
       Parsed(
           "[4]",
           R"({ name = "e", op = "embedding", units = 3 }, { name = "l1", op = "lstm", units = 2, state = "reset" }, { name = "l2", op = "lstm", units = 3, state = "reset" }, { name = "out", op = "dense", units = 3, bias = true })",
           5)},
      {"lstm carried",
       Parsed(
           "[4]",
           R"({ name = "e", op = "embedding", units = 3 }, { name = "l1", op = "lstm", units = 2, state = "carried" }, { name = "out", op = "dense", units = 3, bias = true })",
           5)},
      {"dropout",
       Parsed(
           "[5]",
           R"({ name = "d", op = "dense", units = 4, bias = true }, { name = "drop", op = "dropout", probability = 0.25 }, { name = "out", op = "dense", units = 3, bias = true })")},
  };
}

std::vector<float> InputFor(const network::Network& network, const std::string& name) {
  const auto count = static_cast<std::size_t>(kBatch * network::ElementCount(network.input.shape));
  std::vector<float> x = Uniform(name, count, 1.0);
  if (network.input.vocabulary > 0) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] =
          static_cast<float>(static_cast<std::int64_t>(i * i + i / 3) % network.input.vocabulary);
    }
  }
  return x;
}

std::vector<std::int32_t> LabelsFor(const network::Network& network) {
  return RoundLabels(kBatch * network.LabelsPerSample(), 3);
}

// Half of the elements are dropped.
const std::vector<std::uint8_t>& Mask() {
  static const std::vector<std::uint8_t> mask = {1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1};
  return mask;
}

std::unique_ptr<Engine> EngineFor(const network::Network& network, Arithmetic arithmetic = {}) {
  auto engine = Engine::Create(network, kBatch, arithmetic);
  EXPECT_TRUE(engine.ok()) << engine.error().message();
  (*engine)->SetMasks({{"drop", Mask()}});
  return std::move(engine).value();
}

// As in gradient_test.cc, with the state of a step before: buffers are not at their beginning.
TEST(LayerGradients, AgreeWithCentralDifferences) {
  constexpr double kStep = 1e-5;
  for (const Case& test : Cases()) {
    SCOPED_TRACE(test.name);
    const auto x = InputFor(test.network, "x");
    const auto labels = LabelsFor(test.network);
    const auto engine = EngineFor(test.network);
    engine->SetState(SmallState(test.network, 0.7));
    (void)engine->Step(InputFor(test.network, "before"), labels, 0.1);
    const State state = engine->GetState();
    const StepResult step = engine->Differentiate(x, labels);
    ASSERT_EQ(step.gradients.size(), test.network.Parameters().size());
    for (const auto& [name, gradient] : step.gradients) {
      double largest = 0.0;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        largest = std::max(largest, std::abs(gradient[i]));
        State moved = state;
        moved.weights[name][i] += kStep;
        engine->SetState(moved);
        const double above = engine->Forward(x, labels).loss;
        moved.weights[name][i] -= 2 * kStep;
        engine->SetState(moved);
        const double below = engine->Forward(x, labels).loss;
        EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-8) << name << "[" << i << "]";
      }
      // Batch normalisation takes a bias before it off again.
      const bool undone =
          std::string(test.name).find("batch norm") == 0 && (name == "c0.bias" || name == "d.bias");
      EXPECT_EQ(largest > 1e-4, !undone) << name << " has no gradient that could be wrong";
    }
  }
}

TEST(Layers, PassesWithoutAnUpdateLeaveTheStateAlone) {
  for (const Case& test : Cases()) {
    SCOPED_TRACE(test.name);
    const auto engine = EngineFor(test.network);
    engine->SetState(SmallState(test.network, 0.7));
    (void)engine->Step(InputFor(test.network, "before"), LabelsFor(test.network), 0.1);
    const State before = engine->GetState();
    (void)engine->Differentiate(InputFor(test.network, "x"), LabelsFor(test.network));
    (void)engine->Forward(InputFor(test.network, "x"), LabelsFor(test.network));
    EXPECT_EQ(engine->GetState().buffers, before.buffers);
    EXPECT_EQ(engine->GetState().weights, before.weights);
    (void)engine->Advance(InputFor(test.network, "x"), LabelsFor(test.network), 0.1);
    EXPECT_EQ(engine->GetState().buffers == before.buffers, before.buffers.empty());
    engine->SetWeights(before.weights);
    const State reset = engine->GetState();
    for (const network::Buffer* buffer : test.network.Buffers()) {
      for (const double value : reset.buffers.at(buffer->name)) {
        EXPECT_EQ(value, buffer->initial);
      }
    }
  }
}

// Other orders of the sums move float32 results by rounding, and by nothing else.
TEST(Layers, OtherSummationOrdersDifferByRoundingOnly) {
  for (const Case& test : Cases()) {
    SCOPED_TRACE(test.name);
    const auto x = InputFor(test.network, "x");
    const auto labels = LabelsFor(test.network);
    const auto exact = EngineFor(test.network);
    exact->SetState(SmallState(test.network, 0.7));
    const StepResult right = exact->Step(x, labels, 0.1);
    for (int order = 0; order < 4; ++order) {
      const auto engine = EngineFor(test.network, {Precision::kFloat32, order});
      engine->SetState(SmallState(test.network, 0.7));
      const StepResult step = engine->Step(x, labels, 0.1);
      EXPECT_THAT(step.logits, Pointwise(DoubleNear(5e-5), right.logits));
      for (const auto& [name, gradient] : right.gradients) {
        EXPECT_THAT(step.gradients.at(name), Pointwise(DoubleNear(5e-5), gradient)) << name;
      }
    }
  }
}

/// What node `name` gives for `x`.
std::vector<double> ActivationOf(const network::Network& network, const std::string& name,
                                 const std::vector<float>& x, std::int64_t batch) {
  auto engine = Engine::Create(network, batch, {});
  EXPECT_TRUE(engine.ok()) << engine.error().message();
  (*engine)->SetState(SmallState(network, 0.5));
  const auto labels = RoundLabels(batch * network.LabelsPerSample(), 3);
  return (*engine)->Forward(x, labels, true).activations.at(name);
}

TEST(MaxPool, TakesTheLargestInsideTheImageAndTheFirstOfEquals) {
  const auto network = Parsed(
      "[1, 3, 3]",
      R"({ name = "p", op = "max_pool2d", kernel = [2, 2], stride = [2, 2], padding = [0, 0, 0, 0], ceil_mode = true }, )" +
          std::string(kOut));
  const std::vector<float> x = {-5, -2, -7, -3, -9, -4, -1, -8, -6};
  EXPECT_EQ(ActivationOf(network, "p", x, 1), (std::vector<double>{-2, -4, -1, -6}));

  const auto ties = Parsed(
      "[1, 2, 2]",
      R"({ name = "c", op = "conv2d", channels = 1, kernel = [1, 1], stride = [1, 1], padding = [0, 0, 0, 0], groups = 1, bias = false }, { name = "p", op = "max_pool2d", kernel = [1, 2], stride = [1, 1], padding = [0, 0, 0, 0], ceil_mode = false }, { name = "w", op = "conv2d", channels = 1, kernel = [2, 1], stride = [1, 1], padding = [0, 0, 0, 0], groups = 1, bias = false }, )" +
          std::string(kOut));
  auto engine = Engine::Create(ties, 1, {});
  ASSERT_TRUE(engine.ok());
  const State state = SmallState(ties, 0.5);
  (*engine)->SetState(state);
  // The gradient of c's one weight is the sum of x * dL/dc: it tells which of the equal values was
  // taken only if x differs, so the tie is made by the weight 0.
  State tie = state;
  tie.weights["c.weight"][0] = 0.0;
  (*engine)->SetState(tie);
  const std::vector<std::int32_t> label = {0};
  const auto first = (*engine)->Differentiate(std::vector<float>{1, 10, 2, 20}, label);
  const auto only_first = (*engine)->Differentiate(std::vector<float>{1, 0, 2, 0}, label);
  EXPECT_NEAR(first.gradients.at("c.weight")[0], only_first.gradients.at("c.weight")[0], 1e-15);
  EXPECT_NE(first.gradients.at("c.weight")[0], 0.0);
}

TEST(AvgPool, DividesByWhatItCounts) {
  const std::string head =
      R"({ name = "p", op = "avg_pool2d", kernel = [2, 2], stride = [2, 2], padding = [1, 1, 0, 0], ceil_mode = true, count_padding = )";
  const std::vector<float> x = {4, 8, 12, 16};
  const auto counted = Parsed("[1, 2, 2]", head + "true }, " + kOut);
  EXPECT_EQ(ActivationOf(counted, "p", x, 1), (std::vector<double>{1, 4, 6, 16}));
  const auto uncounted = Parsed("[1, 2, 2]", head + "false }, " + kOut);
  EXPECT_EQ(ActivationOf(uncounted, "p", x, 1), (std::vector<double>{4, 8, 12, 16}));
}

TEST(Lrn, FollowsTheFormula) {
  const auto network = Parsed(
      "[3, 1, 1]", R"({ name = "l", op = "lrn", size = 3, alpha = 0.6, beta = 0.5, k = 2.0 }, )" +
                       std::string(kOut));
  const auto y = ActivationOf(network, "l", {1, 2, 3}, 1);
  EXPECT_NEAR(y[0], 1 / std::sqrt(2 + 0.2 * (1 + 4)), 1e-15);
  EXPECT_NEAR(y[1], 2 / std::sqrt(2 + 0.2 * (1 + 4 + 9)), 1e-15);
  EXPECT_NEAR(y[2], 3 / std::sqrt(2 + 0.2 * (4 + 9)), 1e-15);
}

TEST(BatchNorm, KeepsRunningValuesInTheStatedConvention) {
  for (const bool unbiased : {true, false}) {
    const auto network = Parsed(
        "[1]",
        R"({ name = "b", op = "batch_norm", epsilon = 0.5, momentum = 0.25, running_variance = ")" +
            std::string(unbiased ? "unbiased" : "biased") +
            R"(" }, { name = "out", op = "dense", units = 3, bias = true })");
    auto engine = Engine::Create(network, 3, {});
    ASSERT_TRUE(engine.ok()) << engine.error().message();
    (*engine)->SetState(SmallState(network, 0.5));
    const auto labels = RoundLabels(3, 3);
    (void)(*engine)->Step(std::vector<float>{1, 2, 6}, labels, 0.1);  // mean 3, squares 4 + 1 + 9
    const double variance = unbiased ? 14.0 / 2 : 14.0 / 3;
    EXPECT_NEAR((*engine)->GetState().buffers.at("b.running_mean")[0], 0.75, 1e-15);
    EXPECT_NEAR((*engine)->GetState().buffers.at("b.running_variance")[0], 0.75 + 0.25 * variance,
                1e-14);
    (void)(*engine)->Step(std::vector<float>{2, 2, 5}, labels, 0.1);  // mean 3
    EXPECT_NEAR((*engine)->GetState().buffers.at("b.running_mean")[0], 0.75 * 0.75 + 0.75, 1e-14);
  }
}

// The recurrence written out for one unit and one feature.
TEST(Lstm, FollowsItsEquationsAndCarriesItsState) {
  for (const bool carried : {true, false}) {
    const auto network = Parsed(
        "[2]",
        R"({ name = "e", op = "embedding", units = 1 }, { name = "l", op = "lstm", units = 1, state = ")" +
            std::string(carried ? "carried" : "reset") +
            R"(" }, { name = "out", op = "dense", units = 3, bias = true })",
        4);
    auto engine = Engine::Create(network, 1, {});
    ASSERT_TRUE(engine.ok()) << engine.error().message();
    State state = SmallState(network, 0.5);
    (*engine)->SetState(state);
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    const auto& wi = state.weights.at("l.weight_ih");
    const auto& wh = state.weights.at("l.weight_hh");
    const auto& b = state.weights.at("l.bias");
    double h = 0.0;
    double c = 0.0;
    const std::vector<std::vector<float>> batches = {{1, 3}, {0, 2}};
    const auto labels = RoundLabels(2, 3);
    for (const auto& batch : batches) {
      if (!carried) h = c = 0.0;
      std::vector<double> expected;
      for (const float token : batch) {
        const double x = state.weights.at("e.weight")[static_cast<std::size_t>(token)];
        const auto gate = [&](std::size_t k) { return wi[k] * x + wh[k] * h + b[k]; };
        const double i = sigmoid(gate(0));
        const double f = sigmoid(gate(1));
        const double g = std::tanh(gate(2));
        const double o = sigmoid(gate(3));
        c = f * c + i * g;
        h = o * std::tanh(c);
        expected.push_back(h);
      }
      const auto y = (*engine)->Forward(batch, labels, true).activations.at("l");
      EXPECT_THAT(y, Pointwise(DoubleNear(1e-15), expected));
      (void)(*engine)->Step(batch, labels, 0.0);  // keeps the weights, carries the state
    }
  }
}

TEST(Layers, AMaskMustFit) {
  const auto network = Parsed(
      "[5]",
      R"({ name = "drop", op = "dropout", probability = 0.25 }, { name = "out", op = "dense", units = 3, bias = true })");
  auto engine = Engine::Create(network, 2, {});
  ASSERT_TRUE(engine.ok());
  (*engine)->SetState(SmallState(network, 0.5));
  EXPECT_THROW((void)(*engine)->Forward(Uniform("x", 10, 1.0), RoundLabels(2, 3)),
               std::invalid_argument);
  const std::vector<std::uint8_t> mask = {1, 0, 1, 1, 0, 0, 1, 1, 1, 1};
  (*engine)->SetMasks({{"drop", mask}});
  const auto x = Uniform("x", 10, 1.0);
  const auto y = (*engine)->Forward(x, RoundLabels(2, 3), true).activations.at("drop");
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(y[i], mask[i] * static_cast<double>(x[i]) / 0.75, 1e-7);
  }
}

}  // namespace
}  // namespace dlbench::reference
