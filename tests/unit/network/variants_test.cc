// Variants of a network in one file, attributes shared by layers of an op, and finding networks.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "network/parse.h"
#include "network_text.h"

namespace dlbench::network {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kVariants = R"([[variants]]
name = "wide"
description = "seven units"
[variants.layers]
fc1.units = 7

[[variants]]
name = "v1.5"
description = "deeper change"
[variants.layers]
block.fc = { units = 9, bias = false }
)";

std::string Text(const std::string& variants = kVariants) {
  return With("[[layers]]\nname = \"act1\"",
              "[[layers]]\nname = \"block\"\nrepeat = 2\n"
              "layers = [ { name = \"fc\", op = \"dense\", units = 6, bias = true } ]\n\n"
              "[[layers]]\nname = \"act1\"") +
         variants;
}

std::string ErrorOf(const std::string& text, const std::string& variant = "") {
  const auto network = ParseNetwork(text, "my.toml", variant);
  return network ? "no error" : network.error().message();
}

TEST(Variants, ChangeWhatTheyNameAndNothingElse) {
  const auto base = ParseNetwork(Text(), "my.toml");
  ASSERT_TRUE(base) << base.error().message();
  EXPECT_EQ(base->variant, "");
  EXPECT_EQ(base->FullName(), "small");
  EXPECT_EQ(base->nodes[0].Int("units"), 5);
  const auto wide = ParseNetwork(Text(), "my.toml", "wide");
  ASSERT_TRUE(wide) << wide.error().message();
  EXPECT_EQ(wide->name, "small");
  EXPECT_EQ(wide->variant, "wide");
  EXPECT_EQ(wide->FullName(), "small-wide");
  EXPECT_EQ(wide->description, "seven units");
  EXPECT_EQ(wide->nodes[0].Int("units"), 7);
  EXPECT_EQ(wide->nodes[1].Int("units"), 6);
  const auto deep = ParseNetwork(Text(), "my.toml", "v1.5");
  ASSERT_TRUE(deep) << deep.error().message();
  EXPECT_EQ(deep->nodes[0].Int("units"), 5);
  EXPECT_EQ(deep->nodes[2].Int("units"), 9);
  EXPECT_FALSE(deep->nodes[2].Bool("bias"));
  const auto names = VariantNames(Text(), "my.toml");
  ASSERT_TRUE(names);
  EXPECT_THAT(*names, ElementsAre("wide", "v1.5"));
}

TEST(Variants, FaultsAreToldAtTheVariantsOwnLine) {
  const std::string text = Text();
  const auto line =
      std::count(text.begin(),
                 std::next(text.begin(), static_cast<std::ptrdiff_t>(text.find("fc1.units"))),
                 '\n') +
      1;
  std::string wrong = text;
  wrong.replace(wrong.find("fc1.units = 7"), 13, "fc1.units = 0");
  EXPECT_THAT(ErrorOf(wrong, "wide"), AllOf(HasSubstr("my.toml:" + std::to_string(line) + ":"),
                                            HasSubstr("'units' of layer 'fc1' is 0")));
  EXPECT_EQ(ErrorOf(wrong), "no error");
  std::string unknown = text;
  unknown.replace(unknown.find("fc1.units = 7"), 13, "fc1.unit = 7");
  EXPECT_THAT(ErrorOf(unknown, "wide"), HasSubstr("unknown key 'unit'; did you mean 'units'?"));
}

TEST(Variants, OfLayersThatAreNotThereAreRefusedEvenForTheBase) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = Text();
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(ErrorOf(changed("fc1.units = 7", "fc7.units = 7")),
              HasSubstr("the variant 'wide' changes layer 'fc7', which is not there"));
  EXPECT_THAT(ErrorOf(changed("block.fc = {", "block.fb = {")),
              HasSubstr("changes layer 'fb', which is not there; did you mean 'fc'?"));
  EXPECT_THAT(ErrorOf(changed("fc1.units = 7", "fc1 = 7")), HasSubstr("must be a table"));
  EXPECT_THAT(ErrorOf(changed("fc1.units = 7", "fc1.name = \"x\"")),
              HasSubstr("renames layer 'fc1'; its name must stay"));
  EXPECT_THAT(ErrorOf(changed("name = \"v1.5\"", "name = \"wide\"")),
              HasSubstr("'wide' is there twice"));
  EXPECT_THAT(ErrorOf(changed("name = \"wide\"", "name = \"../x\"")),
              HasSubstr("must be a letter"));
  EXPECT_THAT(ErrorOf(changed("description = \"seven units\"\n", "")),
              HasSubstr("a variant has no 'description'"));
  EXPECT_THAT(ErrorOf(Text(), "wode"), HasSubstr("no variant 'wode'; did you mean 'wide'?"));
  EXPECT_EQ(ParseNetwork(Text(), "my.toml", "wild").error().code(), ErrorCode::kNotFound);
}

TEST(Defaults, AreTheAttributesOfLayersThatDoNotGiveThem) {
  std::string text = With("bias = true\n", "");
  text.replace(text.find("classes = 3"), 11,
               "classes = 3\ndefaults.dense = { bias = true, units = 9 }");
  const auto network = ParseNetwork(text, "my.toml");
  ASSERT_TRUE(network) << network.error().message();
  EXPECT_TRUE(network->nodes[0].Bool("bias"));
  EXPECT_EQ(network->nodes[0].Int("units"), 5);  // the layer's own
  EXPECT_FALSE(network->nodes[2].Bool("bias"));
}

TEST(Defaults, HoldOnlyAttributesOfOps) {
  const auto with = [](const std::string& line) {
    return With("classes = 3", "classes = 3\ndefaults." + line);
  };
  EXPECT_THAT(ErrorOf(with("dense = { bia = true }")),
              HasSubstr("'dense' of [defaults] has an unknown key 'bia'; did you mean 'bias'?"));
  EXPECT_THAT(ErrorOf(with("dens = { bias = true }")),
              HasSubstr("[defaults] has an unknown key 'dens'; did you mean 'dense'?"));
  EXPECT_THAT(ErrorOf(with("dense = { name = \"x\" }")), HasSubstr("unknown key 'name'"));
  EXPECT_THAT(ErrorOf(with("dense = 1")), HasSubstr("it must be a table"));
}

class FindVariants : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "my-net.toml") << Text();
    std::ofstream(folder_ / "broken.toml") << "format = \n";
  }
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "variants";
};

TEST_F(FindVariants, ByNameOrByPath) {
  EXPECT_THAT(ListNetworks({folder_}),
              ElementsAre("broken", "my-net", "my-net-v1.5", "my-net-wide"));
  const auto deep = FindNetwork("my-net-v1.5", {folder_});
  ASSERT_TRUE(deep) << deep.error().message();
  EXPECT_EQ(deep->variant, "v1.5");
  EXPECT_EQ(FindNetwork("my-net", {folder_})->variant, "");
  const std::string path = (folder_ / "my-net.toml").string();
  EXPECT_EQ(FindNetwork(path + "#wide", {})->variant, "wide");
  EXPECT_EQ(FindNetwork(path, {})->variant, "");
  EXPECT_THAT(FindNetwork("my-net-wode", {folder_}).error().message(),
              HasSubstr("did you mean 'my-net-wide'?"));
  EXPECT_THAT(FindNetwork(path + "#wild", {}).error().message(), HasSubstr("no variant 'wild'"));
  EXPECT_FALSE(FindNetwork("-wide", {folder_}));
  EXPECT_EQ(LoadAllVariants(path)->size(), 3U);
}

}  // namespace
}  // namespace dlbench::network
