#include <gtest/gtest.h>

#include <algorithm>

#include "data/dataset.h"
#include "data/random.h"
#include "data/safetensors.h"
#include "temporary_folder.h"

namespace dlbench::data {
namespace {

network::Network OneLayer() {
  using Kind = network::Initializer::Kind;
  network::Network network;
  network::Node node;
  node.name = "fc";
  node.op = "dense";
  node.parameters = {{"fc.weight", {3, 4}, {Kind::kUniform, 0.5}, true},
                     {"fc.bias", {3}, {Kind::kConstant, 0.25}, false}};
  network.nodes = {node};
  return network;
}

class WeightsTest : public TemporaryFolderTest {};

TEST_F(WeightsTest, FollowTheInitializer) {
  const auto weights = InitialWeights(OneLayer(), 5);
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights.at("fc.bias"), std::vector<float>(3, 0.25F));
  std::vector<float> expected(12);
  NamedStream(5, "fc.weight").FillUniform(expected, 0.5);
  EXPECT_EQ(weights.at("fc.weight"), expected);
}

TEST_F(WeightsTest, DependOnSeedAndNameAlone) {
  network::Network network = OneLayer();
  const auto before = InitialWeights(network, 5);
  network::Node other = network.nodes[0];
  other.parameters[0].name = "earlier.weight";
  other.parameters[1].name = "earlier.bias";
  network.nodes.insert(network.nodes.begin(), other);
  const auto after = InitialWeights(network, 5);
  EXPECT_EQ(after.at("fc.weight"), before.at("fc.weight"));
  EXPECT_NE(after.at("earlier.weight"), before.at("fc.weight"));
  EXPECT_NE(InitialWeights(network, 6).at("fc.weight"), before.at("fc.weight"));
}

TEST_F(WeightsTest, AreWrittenUnderTheirNamesAndShapes) {
  const auto network = OneLayer();
  const auto weights = InitialWeights(network, 5);
  const auto path = folder_ / "w.safetensors";
  ASSERT_TRUE(WriteWeights(network, weights, path).ok());
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->tensors().size(), 2U);
  const TensorView* weight = file->Find("fc.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->shape, (std::vector<std::int64_t>{3, 4}));
  EXPECT_TRUE(
      std::equal(weight->f32().begin(), weight->f32().end(), weights.at("fc.weight").begin()));
}

TEST_F(WeightsTest, MissingOrMisshapenWeightsAreNotWritten) {
  auto weights = InitialWeights(OneLayer(), 5);
  weights["fc.bias"].pop_back();
  EXPECT_FALSE(WriteWeights(OneLayer(), weights, folder_ / "w.safetensors").ok());
  weights.erase("fc.bias");
  EXPECT_FALSE(WriteWeights(OneLayer(), weights, folder_ / "w.safetensors").ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "w.safetensors"));
}

}  // namespace
}  // namespace dlbench::data
