#include "network/graph.h"

#include <gmock/gmock.h>

#include "network/parse.h"
#include "network_text.h"

namespace dlbench::network {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Network Residual() {
  auto network = ParseNetwork(OfImages("[4, 11, 9]", R"({ name = "g", repeat = 1, layers = [
        { name = "c", op = "conv2d", channels = 4, kernel = [3, 5], stride = [1, 1], padding = [1, 2, 1, 2], groups = 2, bias = true },
        { name = "s", op = "add", inputs = ["c", "group_input"] } ] },
        { name = "p", op = "max_pool2d", kernel = [3, 3], stride = [2, 3], padding = [0, 0, 0, 0], ceil_mode = false })"),
                              "my.toml");
  EXPECT_TRUE(network) << network.error().message();
  return network ? std::move(network).value() : Network();
}

TEST(Graph, DotNamesEveryNodeAndEdge) {
  const std::string dot = ToDot(Residual());
  EXPECT_THAT(dot, HasSubstr("\"g.1.c\" [label=\"c: conv2d 3x5, 4 channels, 124 parameters\"]"));
  EXPECT_THAT(dot, HasSubstr("subgraph \"cluster g.1\""));
  EXPECT_THAT(dot, HasSubstr("\"p\" [label=\"p: max_pool2d 3x3 / 2x3\"]"));
  EXPECT_THAT(dot, HasSubstr("\"input\" -> \"g.1.s\" [label=\"[4, 11, 9]\"]"));
  EXPECT_THAT(dot, HasSubstr("\"out\" -> \"loss\" [label=\"[2]\"]"));
}

TEST(Graph, SvgDrawsABoxForEveryNodeAndAnArrowForEveryInput) {
  const std::string svg = ToSvg(Residual());
  const auto count = [&](const std::string& part) {
    int times = 0;
    for (auto at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++times;
    return times;
  };
  EXPECT_EQ(count("<rect "), 7);       // input, five nodes, loss
  EXPECT_EQ(count("marker-end="), 7);  // six in a row and the shortcut
  EXPECT_EQ(count(" C "), 1);          // only the shortcut is an arc
  EXPECT_THAT(svg, HasSubstr(">g.1.c: conv2d 3x5, 4 channels, 124 parameters  [4, 11, 9]</text>"));
}

TEST(Graph, TextsAreEscaped) {
  Network network = Residual();
  network.title = "<a & b>";
  network.nodes[2].name = "x\"<y>";
  EXPECT_THAT(ToSvg(network), HasSubstr("&lt;a &amp; b&gt;"));
  EXPECT_THAT(ToSvg(network), Not(HasSubstr("<y>")));
  EXPECT_THAT(ToDot(network), HasSubstr("\"x\\\"<y>\""));
}

}  // namespace
}  // namespace dlbench::network
