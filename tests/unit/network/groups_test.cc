#include <gmock/gmock.h>

#include "network/cost.h"
#include "network/parse.h"
#include "network_text.h"

namespace dlbench::network {
namespace {

using ::testing::HasSubstr;

/// The valid file with `group` between its first layer and the others.
std::string WithGroup(const std::string& group) {
  return With("[[layers]]\nname = \"act1\"", group + "\n[[layers]]\nname = \"act1\"");
}

std::string ErrorOf(const std::string& text) {
  const auto network = ParseNetwork(text, "my.toml");
  return network ? "no error" : network.error().message();
}

TEST(Groups, RepeatGivesNamesAnIndexAndChainsTheRepetitions) {
  const auto network = ParseNetwork(WithGroup(R"([[layers]]
name = "block"
repeat = 3
layers = [ { name = "fc", op = "dense", units = 5, bias = true }, { name = "act", op = "relu" } ]
)"),
                                    "my.toml");
  ASSERT_TRUE(network) << network.error().message();
  ASSERT_EQ(network->nodes.size(), 9U);
  EXPECT_EQ(network->nodes[1].name, "block.1.fc");
  EXPECT_EQ(network->nodes[1].inputs.front(), "fc1");
  EXPECT_EQ(network->nodes[2].inputs.front(), "block.1.fc");
  EXPECT_EQ(network->nodes[3].name, "block.2.fc");
  EXPECT_EQ(network->nodes[3].inputs.front(), "block.1.act");
  EXPECT_EQ(network->nodes[5].parameters[0].name, "block.3.fc.weight");
  EXPECT_EQ(network->nodes[7].name, "act1");
  EXPECT_EQ(network->nodes[7].inputs.front(), "block.3.act");
}

TEST(Groups, NestAndNamesAreFoundFromTheInside) {
  const auto network = ParseNetwork(WithGroup(R"([[layers]]
name = "stage"
repeat = 2
[[layers.layers]]
name = "fc"
op = "dense"
units = 5
bias = false
[[layers.layers]]
name = "inner"
repeat = 2
layers = [ { name = "act", op = "relu", inputs = ["group_input"] } ]
[[layers.layers]]
name = "again"
op = "tanh"
inputs = ["inner"]
)"),
                                    "my.toml");
  ASSERT_TRUE(network) << network.error().message();
  EXPECT_EQ(network->nodes[2].name, "stage.1.inner.1.act");
  EXPECT_EQ(network->nodes[2].inputs.front(), "stage.1.fc");
  EXPECT_EQ(network->nodes[3].inputs.front(), "stage.1.inner.1.act");
  EXPECT_EQ(network->nodes[4].name, "stage.1.again");
  EXPECT_EQ(network->nodes[4].inputs.front(), "stage.1.inner.2.act");
}

TEST(Groups, LayersOfAGroupAreNotVisibleOutside) {
  const std::string text = WithGroup(R"([[layers]]
name = "block"
repeat = 1
layers = [ { name = "act", op = "relu" } ]
)");
  std::string inside = text;
  inside.replace(inside.find("op = \"tanh\""), 11, "op = \"tanh\"\ninputs = [\"act\"]");
  EXPECT_THAT(ErrorOf(inside), HasSubstr("takes its input from 'act'"));
  std::string group = text;
  group.replace(group.find("op = \"tanh\""), 11, "op = \"tanh\"\ninputs = [\"block\"]");
  EXPECT_TRUE(ParseNetwork(group, "my.toml")) << ErrorOf(group);
}

TEST(Groups, AnErrorInsideIsToldOnce) {
  const std::string error = ErrorOf(WithGroup(R"([[layers]]
name = "block"
repeat = 500
layers = [ { name = "act", op = "rellu" } ]
)"));
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_THAT(error, HasSubstr("did you mean 'relu'?"));
}

TEST(Groups, RepeatBombsEndEarly) {
  const std::string bomb = ErrorOf(WithGroup(R"([[layers]]
name = "a"
repeat = 1000
[[layers.layers]]
name = "b"
repeat = 1000
[[layers.layers.layers]]
name = "c"
repeat = 1000
layers = [ { name = "act", op = "relu" } ]
)"));
  EXPECT_THAT(bomb, HasSubstr("more than 10000 layers"));
  EXPECT_THAT(ErrorOf(WithGroup(R"([[layers]]
name = "a"
repeat = 1000
layers = [ { name = "fc", op = "dense", units = 40000, bias = false } ]
)")),
              HasSubstr("more than 4000000000 parameters"));
  EXPECT_THAT(ErrorOf(WithGroup("[[layers]]\nname = \"a\"\nrepeat = 0\nlayers = [{}]\n")),
              HasSubstr("'repeat' of a layer is 0"));
  EXPECT_THAT(ErrorOf(WithGroup("[[layers]]\nname = \"a\"\nrepeat = 2\nlayers = []\n")),
              HasSubstr("one or more tables"));
  EXPECT_THAT(ErrorOf(WithGroup("[[layers]]\nname = \"a\"\nrepeat = 2\nunits = 3\nlayers = [{name="
                                "\"r\", op=\"relu\"}]\n")),
              HasSubstr("unknown key 'units'"));
}

TEST(Groups, DeepNestingIsRefused) {
  std::string layers = "{ name = \"act\", op = \"relu\" }";
  for (int depth = 0; depth < 6; ++depth) {
    layers = "{ name = \"g\", repeat = 1, layers = [ " + layers + " ] }";
  }
  std::string text = ValidText();
  const std::size_t from = text.find("[[layers]]");
  const std::size_t to = text.find("[loss]");
  text.erase(from, to - from);
  text.insert(0, "layers = [" + layers + "]\n");
  EXPECT_THAT(ErrorOf(text), HasSubstr("nested more than 4 deep"));
}

}  // namespace
}  // namespace dlbench::network
