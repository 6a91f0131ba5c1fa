#include "network/cost.h"

#include <gtest/gtest.h>

#include <limits>

#include "network/parse.h"
#include "network_text.h"

namespace dlbench::network {
namespace {

Network Parsed(const std::string& text) {
  auto network = ParseNetwork(text, "my.toml");
  EXPECT_TRUE(network) << network.error().message();
  return network ? std::move(network).value() : Network();
}

constexpr const char* kRelu = R"({ name = "r", op = "relu" })";
constexpr const char* kConv =
    R"({ name = "c", op = "conv2d", channels = 5, kernel = [3, 3], stride = [1, 1], padding = [1, 1, 1, 1], groups = 1, bias = false })";
constexpr const char* kSum = R"({ name = "s", op = "add", inputs = ["c", "input"] })";

TEST(Costs, GradientOfTheDataIsNotCounted) {
  const Network network =
      Parsed(OfImages("[5, 4, 4]", std::string(kRelu) + ", " + kConv + ", " + kSum));
  const auto costs = Costs(network);
  ASSERT_EQ(costs.size(), 5U);
  EXPECT_FALSE(costs[0].input_needs_gradient);
  EXPECT_FALSE(costs[1].input_needs_gradient);  // only an activation of the data before it
  EXPECT_TRUE(costs[2].input_needs_gradient);
  const std::int64_t conv = 5 * 5 * 9 * 16;
  const std::int64_t dense = 80 * 2;
  EXPECT_EQ(costs[1].multiply_adds, conv);
  EXPECT_EQ(costs[1].backward_multiply_adds, conv);
  EXPECT_EQ(costs[4].multiply_adds, dense);
  EXPECT_EQ(costs[4].backward_multiply_adds, 2 * dense);
  EXPECT_EQ(ForwardMultiplyAdds(network), conv + dense);
  EXPECT_EQ(TrainingStepFlops(network, 8), 2 * 8 * (3 * (conv + dense) - conv));
  EXPECT_EQ(TokensPerSample(network), 0);
}

TEST(Costs, TrafficIsWhatMustBeReadAndWritten) {
  const Network network =
      Parsed(OfImages("[5, 4, 4]", std::string(kRelu) + ", " + kConv + ", " + kSum));
  const auto costs = Costs(network);
  const std::int64_t image = 80 * 4;
  EXPECT_EQ(costs[0].forward_bytes, 2 * image);
  EXPECT_EQ(costs[0].backward_bytes, 0);  // nothing before it is trained
  EXPECT_EQ(costs[1].activation_bytes, image);
  EXPECT_EQ(costs[1].parameter_bytes, 5 * 5 * 9 * 4);
  EXPECT_EQ(costs[1].backward_bytes, 2 * image);
  EXPECT_EQ(costs[2].forward_bytes, 3 * image);
  EXPECT_EQ(costs[2].backward_bytes, 4 * image);  // a gradient for one of two inputs
  EXPECT_EQ(costs[4].backward_bytes, 2 * 4 + 2 * image);
}

TEST(Costs, OfSequencesAreThoseOfAllTokens) {
  const Network network = Parsed(OfTokens(
      R"({ name = "e", op = "embedding", units = 5 }, { name = "l", op = "lstm", units = 3, state = "reset" })"));
  const auto costs = Costs(network);
  EXPECT_EQ(costs[0].multiply_adds, 0);
  EXPECT_EQ(costs[0].forward_bytes, 4 * (7 + 2 * 7 * 5));  // ids, rows read, rows written
  EXPECT_EQ(costs[1].multiply_adds, 7 * 12 * (5 + 3));
  EXPECT_EQ(costs[1].backward_multiply_adds, 2 * 7 * 12 * (5 + 3));
  EXPECT_EQ(costs[2].multiply_adds, 7 * 2 * 3);
}

TEST(Costs, RecurrenceNeedsItsGradientEvenOnData) {
  const Network network =
      Parsed(OfValues("[7, 5]", R"({ name = "l", op = "lstm", units = 3, state = "reset" })"));
  EXPECT_EQ(Costs(network)[0].backward_multiply_adds, 7 * 12 * (5 + 2 * 3));
}

TEST(Costs, DoNotOverflowForNetworksBuiltByHand) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 31;
  Network network;
  network.input.shape = {kHuge - 1};
  for (int i = 0; i < 9; ++i) {
    Node node;
    node.name = "n" + std::to_string(i);
    node.op = "dense";
    node.inputs = {i == 0 ? std::string("input") : "n" + std::to_string(i - 1)};
    node.attributes = {{"units", std::int64_t{1}}, {"bias", false}};
    node.output_shape = {kHuge, kHuge};
    node.parameters = {{node.name + ".weight", {kHuge, kHuge}, {}, true}};
    network.nodes.push_back(node);
  }
  EXPECT_EQ(Costs(network)[0].parameter_bytes, std::numeric_limits<std::int64_t>::max());
  EXPECT_GT(TrainingStepFlops(network, kHuge), 0);
}

TEST(Limits, WorkBeyondReasonIsRefused) {
  const auto conv = [](const std::string& kernel, const std::string& padding) {
    return R"({ name = "c", op = "conv2d", channels = 100, groups = 1, bias = false, stride = [1, 1], kernel = )" +
           kernel + ", padding = " + padding + " }";
  };
  const auto network = ParseNetwork(
      OfImages("[100, 2000, 2000]", conv("[401, 401]", "[200, 200, 200, 200]")), "my.toml");
  ASSERT_FALSE(network);
  EXPECT_NE(network.error().message().find("more than 1000000000000000 multiply-adds a sample"),
            std::string::npos)
      << network.error().message();
}

}  // namespace
}  // namespace dlbench::network
