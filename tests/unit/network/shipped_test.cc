#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "network/cost.h"
#include "network/parse.h"
#include "network_text.h"

namespace dlbench::network {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::vector<std::filesystem::path>& Folders() {
  static const std::vector<std::filesystem::path> folders{
      std::filesystem::path(DLBENCH_SOURCE_DIR) / "networks"};
  return folders;
}

TEST(Shipped, EveryNetworkParsesAndIsNamedAsItsFile) {
  const auto names = ListNetworks(Folders());
  EXPECT_THAT(names, Contains("fcn-r"));
  for (const std::string& name : names) {
    const auto network = FindNetwork(name, Folders());
    ASSERT_TRUE(network) << network.error().message();
    EXPECT_EQ(network->FullName(), name);
  }
}

// The counts that the original's definitions lead to.
TEST(Shipped, TheTenNetworksHaveTheParametersOfTheOriginal) {
  const std::map<std::string, std::int64_t> counts = {
      {"fcn-5", 117'997'696},    {"fcn-8", 130'586'752},     {"fcn-r", 14'205'962},
      {"alexnet-s", 62'378'344}, {"resnet-50", 25'557'032},  {"resnet-50-v1.5", 25'557'032},
      {"alexnet-r", 85'098},     {"alexnet-r-ceil", 89'578}, {"resnet-56", 853'018},
      {"lstm-32", 6'180'624},    {"lstm-64", 6'180'624},     {"lstm-ptb", 6'180'624}};
  for (const auto& [name, count] : counts) {
    const auto network = FindNetwork(name, Folders());
    ASSERT_TRUE(network) << network.error().message();
    EXPECT_EQ(network->ParameterCount(), count) << name;
    EXPECT_THAT(name + network->description, HasSubstr("parameters")) << name;
  }
}

// Multiply-adds as published: He and others' 3.8e9 with stride in the 1x1, 4.1e9 in the 3x3.
TEST(Shipped, ConvolutionalNetworksHaveTheWorkOfTheirPapers) {
  const auto work = [](const char* name) {
    return static_cast<double>(ForwardMultiplyAdds(*FindNetwork(name, Folders()))) / 1e9;
  };
  EXPECT_NEAR(work("resnet-50"), 3.86, 0.01);
  EXPECT_NEAR(work("resnet-50-v1.5"), 4.09, 0.01);
  EXPECT_NEAR(work("alexnet-s"), 1.135, 0.001);
  EXPECT_NEAR(work("resnet-56"), 0.125, 0.001);
}

TEST(Shipped, FcnRHasTheWorkOfTheOriginal) {
  const auto network = FindNetwork("fcn-r", Folders());
  ASSERT_TRUE(network);
  EXPECT_EQ(network->ParameterCount(), 14'205'962);
  EXPECT_EQ(ForwardMultiplyAdds(*network), 14'198'784);
  EXPECT_EQ(TrainingStepFlops(*network, 64), 2 * 64 * (3 * 14'198'784LL - 784 * 2048));
  EXPECT_EQ(network->input.scale, 1.0 / 255.0);
  for (const Parameter* parameter : network->Parameters()) {
    EXPECT_NE(parameter->initializer.value, 0.0) << parameter->name;
  }
}

TEST(FindNetwork, UnknownNamesGetTheNearestKnownOne) {
  const auto network = FindNetwork("fcn-t", Folders());
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(FindNetwork("fcnr", Folders()).error().message(), HasSubstr("did you mean 'fcn-r'?"));
  EXPECT_FALSE(FindNetwork("", Folders()));
  EXPECT_FALSE(FindNetwork("fcn-r", {}));
}

TEST(FindNetwork, TakesAPath) {
  const auto path = Folders().front() / "fcn-tiny.toml";
  const auto network = FindNetwork(path.string(), {});
  ASSERT_TRUE(network);
  EXPECT_EQ(network->source, path.string());
  EXPECT_THAT(FindNetwork("/nonexistent/x.toml", {}).error().message(), HasSubstr("x.toml"));
}

}  // namespace
}  // namespace dlbench::network
