#include <gmock/gmock.h>

#include <fstream>

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
    EXPECT_EQ(network->name, name);
  }
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
