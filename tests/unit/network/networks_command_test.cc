#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.h"
#include "network_text.h"

namespace dlbench::cli {

// The command under test is compiled alone; this stands for cli.cc's.
void Fail(Context& context, const Error& error) {
  *context.err << "dlbench: " << error.message() << '\n';
  context.exit_status = error.code() == ErrorCode::kFailed ? kBadResult : kUsageError;
}

namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_status = 0;
  std::string out, err;
};

Outcome RunCommand(const std::vector<std::string>& words) {
  std::ostringstream out;
  std::ostringstream err;
  Context context;
  context.network_folders = {std::filesystem::path(DLBENCH_SOURCE_DIR) / "networks"};
  context.out = &out;
  context.err = &err;
  CLI::App app;
  AddNetworksCommand(app, context);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return {kUsageError, "", error.what()};
  }
  return {context.exit_status, out.str(), err.str()};
}

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(NetworksCommand, ListNamesEveryShippedNetwork) {
  const Outcome outcome = RunCommand({"networks", "list"});
  EXPECT_EQ(outcome.exit_status, kDone);
  EXPECT_THAT(outcome.out, HasSubstr("fcn-r "));
  EXPECT_THAT(outcome.out, HasSubstr("resnet-50-v1.5 "));
  const auto json =
      nlohmann::json::parse(RunCommand({"networks", "list", "--format", "json"}).out)["networks"];
  EXPECT_EQ(json[0]["name"], "alexnet-r");
  EXPECT_EQ(json[0]["parameters"], 85098);
  EXPECT_EQ(json[1]["name"], "alexnet-r-ceil");
  EXPECT_EQ(json[1]["parameters"], 89578);
}

TEST(NetworksCommand, ShowGivesLayersTotalsAndWork) {
  const Outcome outcome = RunCommand({"networks", "show", "fcn-r", "--batch", "64"});
  EXPECT_EQ(outcome.exit_status, kDone);
  for (const char* part : {"[4096]", "14,205,962", "14,198,784", "5,246,812,160",
                           "uniform in (-0.142857, 0.142857)", "learning rate 0.05, momentum 0.9",
                           "softmax_cross_entropy of 'fc4', mean over the batch"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  const auto json = nlohmann::json::parse(
      RunCommand({"networks", "show", "fcn-r", "--batch", "32", "--format", "json"}).out);
  EXPECT_EQ(json["totals"]["parameters"], 14205962);
  EXPECT_EQ(json["training_step"]["flops"], 5246812160 / 2);
  EXPECT_EQ(json["layers"].size(), 7U);
}

TEST(NetworksCommand, CheckTellsAllErrorsAndExitsWithTwo) {
  std::string text = network::With("units = 5", "units = -5");
  text.replace(text.find("\"sgd\""), 5, "\"adam\"");
  const std::string path = Write("bad.toml", text);
  const Outcome outcome = RunCommand({"networks", "check", path});
  EXPECT_EQ(outcome.exit_status, kUsageError);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(path + ":20:9: 'units'"));
  EXPECT_THAT(outcome.err, HasSubstr(path + ":40:8: 'kind'"));
  const auto json =
      nlohmann::json::parse(RunCommand({"networks", "check", path, "--format", "json"}).out);
  EXPECT_EQ(json["errors"].size(), 2U);
}

TEST(NetworksCommand, ShowTellsTokensAndVariants) {
  const Outcome outcome = RunCommand({"networks", "show", "lstm-ptb", "--batch", "1"});
  for (const char* part : {"ids of 10,000 tokens", "a sequence of 32 tokens",
                           "batch and its tokens", "uniform in (-0.1, 0.1)"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  const auto json =
      nlohmann::json::parse(RunCommand({"networks", "show", "lstm-ptb", "--format", "json"}).out);
  EXPECT_EQ(json["totals"]["tokens_per_sample"], 32);
  EXPECT_EQ(json["input"]["vocabulary"], 10000);
  EXPECT_FALSE(json["input"].contains("scale"));
  EXPECT_THAT(RunCommand({"networks", "show", "alexnet-r-ceil"}).out,
              HasSubstr("AlexNet-R (alexnet-r-ceil): three convolutions of 5x5 on CIFAR-10, "
                        "pooling rounded up"));
  EXPECT_THAT(RunCommand({"networks", "show", "resnet-56"}).out,
              HasSubstr("uniform in (0.5, 1.5)"));
}

TEST(NetworksCommand, GraphIsDotOrSvg) {
  EXPECT_THAT(RunCommand({"networks", "graph", "resnet-50-v1.5"}).out,
              HasSubstr("digraph \"resnet-50-v1.5\""));
  EXPECT_THAT(RunCommand({"networks", "graph", "resnet-50", "--format", "svg"}).out,
              HasSubstr("</svg>"));
  EXPECT_EQ(RunCommand({"networks", "graph", "resnet-50", "--format", "png"}).exit_status,
            kUsageError);
}

TEST(NetworksCommand, CheckLooksIntoVariants) {
  const std::string start = network::ValidText() +
                            "[[variants]]\nname = \"wide\"\ndescription = \"d\"\n"
                            "[variants.layers]\nfc1.units = ";
  const Outcome good = RunCommand({"networks", "check", Write("wide.toml", start + "7\n")});
  EXPECT_THAT(good.out, HasSubstr("(variant wide): valid; 3 layers, 56 parameters"));
  const Outcome bad = RunCommand({"networks", "check", Write("wide.toml", start + "-7\n")});
  EXPECT_EQ(bad.exit_status, kUsageError);
  EXPECT_THAT(bad.err, HasSubstr("'units' of layer 'fc1' is -7"));
}

TEST(NetworksCommand, CheckAcceptsAValidFile) {
  const Outcome outcome =
      RunCommand({"networks", "check", Write("good.toml", network::ValidText())});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("valid; 3 layers, 40 parameters"));
}

TEST(NetworksCommand, WrongUseIsRefused) {
  EXPECT_EQ(RunCommand({"networks"}).exit_status, kUsageError);
  EXPECT_EQ(RunCommand({"networks", "show", "fcn-r", "--batch", "0"}).exit_status, kUsageError);
  EXPECT_EQ(RunCommand({"networks", "show", "fcn-r", "--format", "xml"}).exit_status, kUsageError);
  EXPECT_EQ(RunCommand({"networks", "show", "fcnr"}).exit_status, kUsageError);
  EXPECT_EQ(RunCommand({"networks", "check", "/nonexistent.toml"}).exit_status, kUsageError);
}

}  // namespace
}  // namespace dlbench::cli
