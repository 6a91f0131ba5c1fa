#include "experiment/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ostream>
#include <string>
#include <vector>

#include "core/text.h"
#include "network/parse.h"

namespace dlbench::experiment {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConformanceTest : public testing::Test {
 protected:
  ConformanceTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("dlbench_conformance_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  ~ConformanceTest() override { std::filesystem::remove_all(folder_); }

  std::vector<ConformancePoint> Points(const std::vector<std::string>& argv,
                                       const std::string& decoy = "") {
    const auto network =
        network::LoadNetwork(std::filesystem::path(DLBENCH_SOURCE_DIR) / "networks/fcn-tiny.toml");
    EXPECT_TRUE(network.ok());
    ConformanceRequest request;
    request.argv = argv;
    if (!decoy.empty()) request.environment["DLBENCH_DECOY"] = decoy;
    request.network = &*network;
    request.folder = folder_;
    SystemClock clock;
    auto points = CheckFramework(request, clock, nullptr);
    EXPECT_TRUE(points.ok()) << points.error().message();
    return points.ok() ? *points : std::vector<ConformancePoint>{};
  }
  static std::vector<std::string> WrongPoints(const std::vector<ConformancePoint>& points) {
    std::vector<std::string> wrong;
    for (const auto& point : points) {
      if (!point.ok) wrong.push_back(point.name + ": " + point.message);
    }
    return wrong;
  }
  const std::filesystem::path folder_;
};

TEST_F(ConformanceTest, TheHonestAdapterKeepsEveryRule) {
  const auto points = Points({PLAIN_ADAPTER});
  EXPECT_THAT(WrongPoints(points), IsEmpty());
  EXPECT_GE(points.size(), 20U);
}

/// A planted fault and what the walk must say about it.
struct Planted {
  std::string decoy;
  std::string point;    ///< Name of the point.
  std::string message;  ///< Part of its message.
};
void PrintTo(const Planted& planted, std::ostream* stream) { *stream << planted.decoy; }

class PlantedFaultTest : public ConformanceTest, public testing::WithParamInterface<Planted> {};

TEST_P(PlantedFaultTest, IsSaidInPlainWords) {
  EXPECT_THAT(WrongPoints(Points({DECOY_ADAPTER}, GetParam().decoy)),
              testing::Contains(AllOf(HasSubstr(GetParam().point + ": the protocol says"),
                                      HasSubstr(GetParam().message))));
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedFaultTest,
    testing::Values(Planted{"static_batch_one", "prepare", "batch 16 not applied"},
                    Planted{"precision_float64", "prepare", "float64"},
                    Planted{"steps_doubled", "run", "counts 2 steps"},
                    Planted{"times_shifted", "run", "before it was asked for"},
                    Planted{"loss_constant", "losses move", "losses between"},
                    Planted{"reset_keeps_weights", "verify twice", "the second"},
                    Planted{"nan_later", "run", "not finite"}),
    [](const auto& tested) { return tested.param.decoy; });

TEST_F(ConformanceTest, AnAdapterThatTrainsNothingIsFound) {
  // Its tensor files are no tensors, its losses constant, and it takes every layer.
  const auto wrong = WrongPoints(Points({FAKE_ADAPTER}));
  EXPECT_THAT(wrong, testing::Contains(HasSubstr("unknown layer: the protocol says")));
  EXPECT_THAT(wrong, testing::Contains(HasSubstr("it was done as if it were possible")));
}

TEST_F(ConformanceTest, ASilentAdapterStopsTheWalkAtHello) {
  const auto points =
      Points({FAKE_ADAPTER, "hello:stderr:no module named torch\n", "hello:exit:1"});
  EXPECT_THAT(WrongPoints(points),
              ElementsAre(AllOf(HasSubstr("hello: the protocol says"), HasSubstr("status 1"),
                                HasSubstr("no module named torch"))));
}

}  // namespace
}  // namespace dlbench::experiment
