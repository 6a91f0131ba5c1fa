// Every operation between small neighbours, against float64 loops whose gradients are differences
// of the loss: nothing is shared with the engine.

#include <gtest/gtest.h>

#include <cmath>

#include "engine.h"
#include "naive_graph.h"
#include "naive_network.h"
#include "text_network.h"

namespace dlbench::onednn {
namespace {

using network::OfImages;
using network::OfTokens;
using network::OfValues;

/// Start values; scales around 1, so that a normalisation is neither off nor trivial.
std::vector<float> Start(const adapter::Parameter& parameter, unsigned seed) {
  std::vector<float> values = RandomNumbers(parameter.count, seed);
  const auto fan_in = static_cast<float>(parameter.count) / static_cast<float>(parameter.shape[0]);
  for (float& value : values) value = value / std::sqrt(fan_in) + (fan_in <= 1.0F ? 0.5F : 0.0F);
  return values;
}

/// An engine and its double; each step compares everything and hands the engine's weights on.
class Twins {
 public:
  Twins(adapter::Network network, const EngineOptions& options)
      : network_(std::move(network)),
        batch_(options.batch),
        engine_(network_, options),
        naive_(network_, options.batch) {
    for (std::size_t i = 0; i < engine_.parameter_count(); ++i) {
      const adapter::Parameter& parameter = *network_.Parameters()[i];
      EXPECT_EQ(engine_.parameter(i).name, parameter.name);
      const std::vector<float> start = Start(parameter, 10 + static_cast<unsigned>(i));
      engine_.Load(i, start.data());
      naive_.parameters[parameter.name].assign(start.begin(), start.end());
      velocity_.emplace_back(start.size(), 0.0);
    }
  }

  void Step(unsigned step) {
    const NaiveBatch batch(network_, batch_, 100 * (step + 1));
    const double loss = EngineStep(batch);
    // Differences first: the buffers must still be those of before the step.
    for (std::size_t i = 0; i < engine_.parameter_count(); ++i) CompareGradient(batch, i);
    const double expected = naive_.Loss(batch, true);
    EXPECT_NEAR(loss, expected, 1e-5 * (1.0 + expected));
    std::vector<float> logits(static_cast<std::size_t>(engine_.logit_count()));
    engine_.ReadLogits(logits.data());
    EXPECT_LT(RelativeError(logits, naive_.logits), kLimit);
    for (auto& [name, values] : naive_.buffers) CompareBuffer(name, values);
    for (std::size_t i = 0; i < engine_.parameter_count(); ++i) CompareUpdate(i);
  }

  double EngineStep(const NaiveBatch& batch) {
    StepInput input{batch.x.data(), batch.tokens.data(), batch.labels.data(), {}, 0.1F};
    for (const adapter::Node& node : network_.nodes) {
      if (node.op == "dropout") input.masks.push_back(batch.masks.at(node.name).data());
    }
    return engine_.Step(input);
  }

  const Engine& engine() const { return engine_; }
  std::vector<float> Values(std::size_t index) const {
    std::vector<float> values(network_.Parameters()[index]->count);
    engine_.ReadValues(index, values.data());
    return values;
  }

 private:
  static constexpr double kLimit = 3e-5;  // float32 sums of some hundred terms, and a normalisation
  static constexpr std::size_t kSamples = 10;

  void CompareGradient(const NaiveBatch& batch, std::size_t i) {
    const adapter::Parameter& parameter = *network_.Parameters()[i];
    std::vector<float> gradient(parameter.count);
    engine_.ReadGradient(i, gradient.data());
    double largest = 0.05;  // a bias before a normalisation has none but what rounding leaves
    for (const float value : gradient) largest = std::max(largest, std::abs(double{value}));
    const std::size_t stride = std::max<std::size_t>(parameter.count / kSamples, 1);
    for (std::size_t k = i % stride; k < parameter.count; k += stride) {
      EXPECT_NEAR(gradient[k], naive_.Derivative(batch, parameter.name, k), kLimit * largest)
          << parameter.name << " " << k;
    }
  }

  void CompareBuffer(const std::string& name, const std::vector<double>& values) {
    std::vector<float> got(values.size());
    engine_.ReadBuffer(name, got.data());
    EXPECT_LT(RelativeError(got, values), kLimit) << name;
  }

  /// The rule, from the engine's own gradient.
  void CompareUpdate(std::size_t i) {
    const adapter::Parameter& parameter = *network_.Parameters()[i];
    std::vector<float> gradient(parameter.count), values(parameter.count);
    engine_.ReadGradient(i, gradient.data());
    engine_.ReadValues(i, values.data());
    std::vector<double>& expected = naive_.parameters.at(parameter.name);
    const double decay = parameter.decays ? network_.optimizer.weight_decay : 0.0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      double& v = velocity_[i][k];
      v = network_.optimizer.momentum * v + double{gradient[k]} + decay * expected[k];
      expected[k] -= 0.1 * v;
    }
    EXPECT_LT(RelativeError(values, expected), 1e-6) << parameter.name;
    expected.assign(values.begin(), values.end());
  }

  adapter::Network network_;
  std::int64_t batch_;
  Engine engine_;
  NaiveGraph naive_;
  std::vector<std::vector<double>> velocity_;
};

struct Case {
  std::string name, text;
  std::int64_t batch = 3;
};

std::string Conv(const std::string& name, int channels, const std::string& more) {
  return "{ name = \"" + name + "\", op = \"conv2d\", channels = " + std::to_string(channels) +
         ", " + more + " }";
}

const std::string kThree =
    "kernel = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1], groups = 1, bias = true";
const std::string kFirst = Conv("c1", 5, kThree) + ", ";
const std::string kFirst16 = Conv("c1", 16, kThree) + ", ";
const std::string kPoint =
    "kernel = [1, 1], stride = [1, 1], padding = [0, 0, 0, 0], groups = 1, bias = false";
const std::string kNorm =
    "op = \"batch_norm\", epsilon = 1e-3, momentum = 0.3, running_variance = \"unbiased\"";

std::string Pool(const std::string& op, const std::string& more) {
  return "{ name = \"pool\", op = \"" + op + "\", " + more + " }";
}

std::string Lstm(const std::string& name, int units, const std::string& state) {
  return "{ name = \"" + name + "\", op = \"lstm\", units = " + std::to_string(units) +
         ", state = \"" + state + "\" }";
}

const std::string kTokens = "{ name = \"e\", op = \"embedding\", units = 6 }, ";
const std::string kDropout = "{ name = \"drop\", op = \"dropout\", probability = 0.3 }";

std::string Residual(int channels, bool relu_after) {
  const std::string first = Conv("c1", channels, kThree);
  return first + ", { name = \"b1\", " + kNorm + " }, { name = \"r1\", op = \"relu\" }, " +
         Conv("c2", channels, kThree) + ", { name = \"b2\", " + kNorm +
         " }, { name = \"sum\", op = \"add\", inputs = [\"b2\", \"r1\"] }" +
         (relu_after ? ", { name = \"r2\", op = \"relu\" }" : "") + ", " +
         Conv("c3", channels, kPoint) + ", { name = \"sum2\", op = \"add\", inputs = [\"c3\", \"" +
         (relu_after ? "r2" : "sum") + "\"] }, { name = \"gap\", op = \"global_avg_pool\" }";
}

std::vector<Case> Cases() {
  return {
      {"ConvOdd", OfImages("[3, 7, 6]", kFirst + Conv("c2", 7, kThree))},
      {"ConvBlocked", OfImages("[3, 7, 6]", kFirst16 + Conv("c2", 32, kThree))},
      {"ConvAsymmetric",
       OfImages("[2, 9, 8]",
                kFirst16 + Conv("c2", 16,
                                "kernel = [3, 2], stride = [2, 1], padding = [1, 0, 0, "
                                "1], groups = 1, bias = false"))},
      {"ConvGroupsOdd",
       OfImages("[4, 6, 6]", Conv("c1", 6, kThree) + ", " +
                                 Conv("c2", 9,
                                      "kernel = [3, 3], stride = [1, 1], padding = [1, 1, "
                                      "1, 1], groups = 3, bias = true"))},
      {"ConvGroupsBlocked",
       OfImages("[4, 6, 6]", Conv("c1", 32, kThree) + ", " +
                                 Conv("c2", 32,
                                      "kernel = [5, 5], stride = [1, 1], padding = [2, 2, "
                                      "2, 2], groups = 2, bias = true"))},
      {"ConvStridedPoint",
       OfImages("[3, 8, 8]", kFirst16 + Conv("c2", 32,
                                             "kernel = [1, 1], stride = [2, 2], padding = "
                                             "[0, 0, 0, 0], groups = 1, bias = false"))},
      {"ConvRelu",
       OfImages("[3, 7, 6]", kFirst16 + "{ name = \"r\", op = \"relu\" }, " +
                                 Conv("c2", 16, kThree) + ", { name = \"t\", op = \"tanh\" }")},
      {"ConvSigmoidOdd", OfImages("[3, 7, 6]", kFirst + "{ name = \"s\", op = \"sigmoid\" }, " +
                                                   Conv("c2", 3, kThree))},
      {"MaxPool", OfImages("[3, 9, 7]", kFirst16 + Pool("max_pool2d",
                                                        "kernel = [3, 3], stride = [2, 2], padding "
                                                        "= [1, 1, 1, 1], ceil_mode = false"))},
      {"MaxPoolCeil",
       OfImages("[3, 8, 6]", kFirst + Pool("max_pool2d",
                                           "kernel = [3, 3], stride = [2, 2], padding "
                                           "= [0, 0, 0, 0], ceil_mode = true"))},
      {"MaxPoolRest", OfImages("[3, 8, 6]", kFirst16 + Pool("max_pool2d",
                                                            "kernel = [3, 2], stride = [3, 3], "
                                                            "padding = [0, 1, 0, 0], ceil_mode = "
                                                            "false"))},
      {"AvgPoolExclude",
       OfImages("[3, 8, 6]",
                kFirst16 + Pool("avg_pool2d",
                                "kernel = [3, 3], stride = [2, 2], padding = [1, 1, 1, "
                                "1], ceil_mode = true, count_padding = false"))},
      {"AvgPoolInclude",
       OfImages("[3, 9, 7]", kFirst + Pool("avg_pool2d",
                                           "kernel = [3, 3], stride = [2, 2], padding = [1, 1, 1, "
                                           "1], ceil_mode = false, count_padding = true"))},
      {"AvgPoolCeilUnpadded",
       OfImages("[3, 8, 6]",
                kFirst16 + Pool("avg_pool2d",
                                "kernel = [3, 3], stride = [2, 2], padding = [0, 0, 0, "
                                "0], ceil_mode = true, count_padding = true"))},
      {"GlobalAvgPool",
       OfImages("[3, 5, 7]", kFirst16 + "{ name = \"gap\", op = \"global_avg_pool\" }")},
      {"GlobalAvgPoolOdd",
       OfImages("[3, 5, 7]", kFirst + "{ name = \"gap\", op = \"global_avg_pool\" }")},
      {"Lrn",
       OfImages("[3, 5, 4]", kFirst16 + "{ name = \"n\", op = \"lrn\", size = 5, alpha = 0.5, "
                                        "beta = 0.75, k = 2.0 }")},
      {"LrnOdd", OfImages("[3, 5, 4]", kFirst + "{ name = \"n\", op = \"lrn\", size = 3, alpha = "
                                                "0.5, beta = 0.75, k = 1.0 }")},
      {"BatchNormOdd", OfImages("[3, 5, 4]", kFirst + "{ name = \"n\", " + kNorm +
                                                 " }, { name = \"t\", op = \"tanh\" }")},
      {"BatchNormRelu", OfImages("[3, 5, 4]", kFirst16 + "{ name = \"n\", " + kNorm +
                                                  " }, { name = \"r\", op = \"relu\" }")},
      {"BatchNormFirst",
       OfImages("[3, 5, 4]", "{ name = \"n\", " + kNorm + " }, " + Conv("c1", 4, kThree))},
      {"BatchNormValues",
       OfValues("[5]",
                "{ name = \"fc\", op = \"dense\", units = 7, bias = false }, { name = \"n\", "
                "op = \"batch_norm\", epsilon = 1e-5, momentum = 0.1, running_variance = "
                "\"biased\" }, { name = \"r\", op = \"relu\" }"),
       6},
      {"SubsamplePad",
       OfImages("[3, 7, 5]", kFirst16 + "{ name = \"s\", op = \"subsample_pad\", stride = 2, "
                                        "channels_before = 8, channels_after = 8 }")},
      {"SubsamplePadOdd",
       OfImages("[3, 7, 5]", kFirst + "{ name = \"s\", op = \"subsample_pad\", stride = 2, "
                                      "channels_before = 0, channels_after = 3 }")},
      {"AddItself", OfImages("[3, 5, 4]", kFirst16 + "{ name = \"a\", op = \"add\", inputs = "
                                                     "[\"c1\", \"c1\"] }")},
      {"Residual", OfImages("[3, 6, 5]", Residual(16, false))},
      {"ResidualRelu", OfImages("[3, 6, 5]", Residual(16, true))},
      {"ResidualOdd", OfImages("[3, 6, 5]", Residual(5, true))},
      {"FlattenDropout", OfImages("[3, 5, 4]", kFirst16 + kDropout)},
      {"DropoutOfDense",
       OfValues("[5]",
                "{ name = \"fc\", op = \"dense\", units = 9, bias = true }, { name = \"t\", "
                "op = \"tanh\" }, " +
                    kDropout)},
      {"Embedding", OfTokens(kTokens + "{ name = \"t\", op = \"tanh\" }")},
      {"LstmReset", OfTokens(kTokens + Lstm("l", 5, "reset"))},
      {"LstmCarried", OfTokens(kTokens + Lstm("l1", 16, "carried") + ", " + kDropout + ", " +
                               Lstm("l2", 9, "carried"))},
      {"LstmOfFeatures", OfValues("[4, 3]", Lstm("l", 5, "reset") + ", { name = \"d\", op = "
                                                                    "\"dense\", units = 4, bias = "
                                                                    "true }")},
  };
}

class Layers : public testing::TestWithParam<std::tuple<Case, Preset>> {};

TEST_P(Layers, AgreeWithFloat64) {
  const auto& [test, preset] = GetParam();
  Twins twins(NetworkOf(test.text, test.batch), {test.batch, 1, preset});
  for (unsigned step = 0; step < 2; ++step) twins.Step(step);
}

TEST_P(Layers, AgreeOnTwoThreads) {
  const auto& [test, preset] = GetParam();
  const adapter::Network network = NetworkOf(test.text, test.batch);
  Twins one(network, {test.batch, 1, preset}), two(network, {test.batch, 2, preset});
  const NaiveBatch batch(network, test.batch, 100);
  const double loss = one.EngineStep(batch);
  EXPECT_NEAR(two.EngineStep(batch), loss, 1e-5 * (1.0 + loss));
  for (std::size_t i = 0; i < one.engine().parameter_count(); ++i) {
    const std::vector<float> expected = one.Values(i);
    EXPECT_LT(RelativeError(two.Values(i), {expected.begin(), expected.end()}), 1e-5)
        << one.engine().parameter(i).name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Layers,
                         testing::Combine(testing::ValuesIn(Cases()),
                                          testing::Values(Preset::kDefault, Preset::kRecommended)),
                         [](const auto& test) {
                           const bool recommended = std::get<1>(test.param) == Preset::kRecommended;
                           return std::get<0>(test.param).name +
                                  (recommended ? "Recommended" : "Default");
                         });

}  // namespace
}  // namespace dlbench::onednn
