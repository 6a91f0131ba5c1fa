// What each op makes of its inputs, and what it refuses.
#include <gmock/gmock.h>

#include <cmath>

#include "network/cost.h"
#include "network/parse.h"
#include "network_text.h"

namespace dlbench::network {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Network Parsed(const std::string& text) {
  auto network = ParseNetwork(text, "my.toml");
  EXPECT_TRUE(network) << network.error().message();
  return network ? std::move(network).value() : Network();
}

std::string ErrorOf(const std::string& text) {
  const auto network = ParseNetwork(text, "my.toml");
  return network ? "no error" : network.error().message();
}

Shape FirstOutput(const std::string& text) {
  const Network network = Parsed(text);
  return network.nodes.empty() ? Shape() : network.nodes.front().output_shape;
}

std::string Conv(const std::string& kernel, const std::string& stride, const std::string& padding,
                 const std::string& groups = "1", const std::string& channels = "6") {
  return R"({ name = "c", op = "conv2d", channels = )" + channels + ", kernel = " + kernel +
         ", stride = " + stride + ", padding = " + padding + ", groups = " + groups +
         ", bias = true }";
}

std::string Pool(const std::string& op, const std::string& padding, const std::string& ceil,
                 const std::string& more = "") {
  return R"({ name = "p", op = ")" + op + R"(", kernel = [3, 3], stride = [2, 2], padding = )" +
         padding + ", ceil_mode = " + ceil + more + " }";
}

TEST(Conv2d, SlidesOverThePaddedImage) {
  const Network network =
      Parsed(OfImages("[4, 11, 9]", Conv("[3, 5]", "[2, 3]", "[1, 0, 2, 1]", "2")));
  const Node& conv = network.nodes.front();
  EXPECT_EQ(conv.output_shape, (Shape{6, 6, 2}));  // (11+3-3)/2+1, (9+1-5)/3+1
  EXPECT_EQ(conv.parameters[0].shape, (Shape{6, 2, 3, 5}));
  EXPECT_EQ(conv.parameters[1].shape, (Shape{6}));
  EXPECT_TRUE(conv.parameters[0].decays);
  EXPECT_FALSE(conv.parameters[1].decays);
  EXPECT_EQ(conv.List("padding"), (Shape{1, 0, 2, 1}));
  EXPECT_EQ(Costs(network).front().multiply_adds, 6 * 6 * 2 * 2 * 3 * 5);
  // A bound of 1 / sqrt(fan_in), with a fan_in of the channels of one group.
  EXPECT_DOUBLE_EQ(conv.parameters[0].initializer.value, 1.0 / std::sqrt(2.0 * 3 * 5));
}

TEST(Conv2d, WhatDoesNotFitIsRefusedWithItsNumbers) {
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("[5, 1]", "[1, 1]", "[0, 0, 0, 0]"))),
              HasSubstr("layer 'c': its kernel of 5 is larger than the height 4"));
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("[1, 1]", "[1, 1]", "[0, 0, 0, 0]", "2"))),
              HasSubstr("'groups' is 2, but it must divide both the 3 channels of the input and"));
  EXPECT_THAT(ErrorOf(OfImages("[4, 4, 4]", Conv("[1, 1]", "[1, 1]", "[0, 0, 0, 0]", "4"))),
              HasSubstr("'channels', which is 6"));
  EXPECT_THAT(ErrorOf(OfImages("[48]", Conv("[1, 1]", "[1, 1]", "[0, 0, 0, 0]"))),
              HasSubstr("images [channels, height, width], but its input has shape [48]"));
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("[2, 2]", "[1, 1]", "[2, 0, 0, 0]"))),
              HasSubstr("padding 2 is more than 1, the most for a kernel of 2 (height)"));
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("[2, 4]", "[1, 1]", "[0, 0, 0, 4]"))),
              HasSubstr("padding 4 is more than 3, the most for a kernel of 4 (width)"));
}

TEST(Conv2d, ListsHaveTheirLengthAndRange) {
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("[3]", "[1, 1]", "[0, 0, 0, 0]"))),
              HasSubstr("'kernel' of layer 'c' has 1 elements; it must be an array of 2 integers"));
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("3", "[1, 1]", "[0, 0, 0, 0]"))),
              HasSubstr("'kernel' of layer 'c' is an integer; it must be an array of 2 integers"));
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("[3, 3]", "[0, 1]", "[0, 0, 0, 0]"))),
              HasSubstr("'stride' of layer 'c' holds 0"));
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("[3, 3]", "[1, 1]", "[0, -1, 0, 0]"))),
              HasSubstr("'padding' of layer 'c' holds -1"));
  EXPECT_THAT(ErrorOf(OfImages("[3, 4, 4]", Conv("[3, 3]", "[1, 1.5]", "[0, 0, 0, 0]"))),
              HasSubstr("'stride' of layer 'c' holds a number"));
}

TEST(Conv2d, HugeSizesAreRefusedWithoutOverflow) {
  const std::string most = "2147483647";
  EXPECT_THAT(
      ErrorOf(OfImages("[65536, 1, 1]", Conv("[1, 1]", "[1, 1]", "[0, 0, 0, 0]", "1", most))),
      HasSubstr("the tensor [2147483647, 65536, 1, 1] has more than 2147483647 elements"));
  EXPECT_THAT(ErrorOf(OfImages("[1, 1, 1]", Conv("[65536, 65536]", "[1, 1]",
                                                 "[65535, 65535, 65535, 65535]", "1", most))),
              HasSubstr("use fewer channels"));
  EXPECT_THAT(ErrorOf(OfImages("[1, 30000, 30000]", Conv("[3, 3]", "[1, 1]", "[1, 1, 1, 1]"))),
              HasSubstr("elements; use fewer channels"));
}

// torch.nn.MaxPool2d's sizes: 32 gives 15 or 16; a last window that would begin in the padding
// behind is left out.
TEST(Pool2d, RoundsDownOrUp) {
  EXPECT_EQ(FirstOutput(OfImages("[2, 32, 31]", Pool("max_pool2d", "[0, 0, 0, 0]", "false"))),
            (Shape{2, 15, 15}));
  EXPECT_EQ(FirstOutput(OfImages("[2, 32, 31]", Pool("max_pool2d", "[0, 0, 0, 0]", "true"))),
            (Shape{2, 16, 15}));
  EXPECT_EQ(FirstOutput(OfImages("[2, 6, 6]", Pool("max_pool2d", "[1, 1, 1, 1]", "true"))),
            (Shape{2, 4, 4}));
  const std::string small =
      R"({ name = "p", op = "max_pool2d", kernel = [2, 2], stride = [3, 3], padding = [1, 1, 1, 1], ceil_mode = )";
  // (5+2-2)/3 rounded up is 2, so three windows, and the third begins at 6, where the padding
  // behind begins.
  EXPECT_EQ(FirstOutput(OfImages("[2, 5, 5]", small + "true }")), (Shape{2, 2, 2}));
  EXPECT_EQ(FirstOutput(OfImages("[2, 5, 5]", small + "false }")), (Shape{2, 2, 2}));
  EXPECT_EQ(FirstOutput(OfImages(
                "[2, 7, 7]", Pool("avg_pool2d", "[0, 0, 1, 1]", "true", ", count_padding = true"))),
            (Shape{2, 4, 4}));
  EXPECT_EQ(FirstOutput(OfImages("[5, 7, 3]", R"({ name = "g", op = "global_avg_pool" })")),
            (Shape{5, 1, 1}));
}

TEST(Pool2d, NoWindowHoldsPaddingAlone) {
  EXPECT_THAT(ErrorOf(OfImages("[2, 7, 7]", Pool("max_pool2d", "[2, 0, 0, 0]", "true"))),
              HasSubstr("padding 2 is more than 1"));
  EXPECT_THAT(ErrorOf(OfImages("[2, 7, 7]", Pool("avg_pool2d", "[0, 0, 0, 0]", "true"))),
              HasSubstr("has no 'count_padding'"));
  EXPECT_THAT(ErrorOf(OfValues("[2, 7]", R"({ name = "g", op = "global_avg_pool" })")),
              HasSubstr("its input has shape [2, 7]"));
}

TEST(Lrn, WindowsAreOdd) {
  const auto lrn = [](const std::string& size) {
    return R"({ name = "l", op = "lrn", alpha = 1, beta = 0.75, k = 2, size = )" + size + " }";
  };
  EXPECT_EQ(FirstOutput(OfImages("[5, 2, 2]", lrn("3"))), (Shape{5, 2, 2}));
  EXPECT_THAT(ErrorOf(OfImages("[5, 2, 2]", lrn("4"))), HasSubstr("must be odd"));
}

TEST(BatchNorm, HasScaleShiftAndRunningValues) {
  const std::string layer =
      R"({ name = "b", op = "batch_norm", epsilon = 1e-5, momentum = 0.1, running_variance = "unbiased" })";
  const Network network =
      Parsed(OfImages("[4, 3, 3]", layer,
                      "scales = { distribution = \"uniform_around\", centre = 1.0, bound = 0.5 }"));
  const Node& node = network.nodes.front();
  ASSERT_EQ(node.parameters.size(), 2U);
  EXPECT_EQ(node.parameters[0].name, "b.weight");
  EXPECT_EQ(node.parameters[0].initializer.centre, 1.0);
  EXPECT_EQ(node.parameters[0].initializer.value, 0.5);
  EXPECT_EQ(node.parameters[1].initializer.value, 0.25);
  EXPECT_FALSE(node.parameters[0].decays);  // decays = "weights": neither scale nor shift
  EXPECT_FALSE(node.parameters[1].decays);
  ASSERT_EQ(node.buffers.size(), 2U);
  EXPECT_EQ(node.buffers[0].name, "b.running_mean");
  EXPECT_EQ(node.buffers[0].shape, (Shape{4}));
  EXPECT_EQ(node.buffers[0].initial, 0.0);
  EXPECT_EQ(node.buffers[1].name, "b.running_variance");
  EXPECT_EQ(node.buffers[1].initial, 1.0);
  EXPECT_FALSE(node.buffers[1].per_sample);
  EXPECT_EQ(FirstOutput(OfValues("[5]", layer)), (Shape{5}));
  EXPECT_THAT(ErrorOf(OfValues("[4, 3]", layer)), HasSubstr("or vectors"));
}

TEST(BatchNorm, ScalesAreOneUnlessTheFileSaysOtherwise) {
  const std::string start =
      R"({ name = "b", op = "batch_norm", epsilon = 1e-5, momentum = 0.1, running_variance = "biased")";
  const auto first_scale = [](const std::string& text) {
    return Parsed(text).nodes.front().parameters[0].initializer.value;
  };
  EXPECT_EQ(first_scale(OfImages("[4, 3, 3]", start + " }")), 1.0);
  EXPECT_EQ(first_scale(OfImages(
                "[4, 3, 3]",
                start + R"(, initial_scales = { distribution = "constant", value = 2.0 } })")),
            2.0);
  EXPECT_THAT(
      ErrorOf(OfImages(
          "[4, 3, 3]",
          R"({ name = "r", op = "relu", initial_scales = { distribution = "constant", value = 2.0 } })")),
      HasSubstr("unknown key 'initial_scales'"));
}

TEST(Shapes, ShortcutsAndSumsFit) {
  const std::string subsample =
      R"({ name = "s", op = "subsample_pad", stride = 2, channels_before = 1, channels_after = 2 })";
  EXPECT_EQ(FirstOutput(OfImages("[4, 5, 6]", subsample)), (Shape{7, 3, 3}));
  EXPECT_THAT(
      ErrorOf(OfImages("[4, 5, 6]",
                       subsample + R"(, { name = "a", op = "add", inputs = ["s", "input"] })")),
      HasSubstr("[7, 3, 3] and [4, 5, 6]"));
  EXPECT_THAT(ErrorOf(OfImages("[4, 5, 6]", R"({ name = "a", op = "add" })")),
              HasSubstr("layer 'a' has no 'inputs'; name the 2 layers that add takes"));
  EXPECT_EQ(FirstOutput(OfImages("[4, 5, 6]",
                                 R"({ name = "a", op = "add", inputs = ["input", "input"] })")),
            (Shape{4, 5, 6}));
  EXPECT_EQ(FirstOutput(OfValues("[4, 5, 6]", R"({ name = "f", op = "flatten" })")), (Shape{120}));
  EXPECT_THAT(ErrorOf(OfValues("[4, 5]", R"({ name = "f", op = "flatten" })")),
              HasSubstr("its input has shape [4, 5]"));
  EXPECT_THAT(ErrorOf(OfValues("[4, 5, 6]", R"({ name = "r", op = "relu" })")),
              HasSubstr("flatten it first"));
}

TEST(Dropout, NeverDropsAll) {
  EXPECT_EQ(FirstOutput(OfValues("[4]", R"({ name = "d", op = "dropout", probability = 0.5 })")),
            (Shape{4}));
  EXPECT_THAT(ErrorOf(OfValues("[4]", R"({ name = "d", op = "dropout", probability = 1.0 })")),
              HasSubstr("'probability' of layer 'd' is 1"));
}

TEST(Sequences, TokensAreEmbeddedAndEveryOneHasItsLogits) {
  const Network network = Parsed(OfTokens(
      R"({ name = "e", op = "embedding", units = 5 }, { name = "l", op = "lstm", units = 3, state = "carried" })"));
  EXPECT_EQ(network.input.vocabulary, 11);
  EXPECT_EQ(network.nodes[0].output_shape, (Shape{7, 5}));
  EXPECT_EQ(network.nodes[0].parameters[0].shape, (Shape{11, 5}));
  EXPECT_DOUBLE_EQ(network.nodes[0].parameters[0].initializer.value, 1 / std::sqrt(5.0));
  const Node& lstm = network.nodes[1];
  EXPECT_EQ(lstm.output_shape, (Shape{7, 3}));
  ASSERT_EQ(lstm.parameters.size(), 3U);
  EXPECT_EQ(lstm.parameters[0].name, "l.weight_ih");
  EXPECT_EQ(lstm.parameters[0].shape, (Shape{12, 5}));
  EXPECT_DOUBLE_EQ(lstm.parameters[0].initializer.value, 1 / std::sqrt(3.0));
  EXPECT_EQ(lstm.parameters[1].shape, (Shape{12, 3}));
  EXPECT_EQ(lstm.parameters[2].shape, (Shape{12}));
  EXPECT_FALSE(lstm.parameters[2].decays);
  ASSERT_EQ(lstm.buffers.size(), 2U);
  EXPECT_EQ(lstm.buffers[0].name, "l.hidden");
  EXPECT_EQ(lstm.buffers[1].shape, (Shape{3}));
  EXPECT_TRUE(lstm.buffers[0].per_sample);
  EXPECT_EQ(network.nodes[2].output_shape, (Shape{7, 2}));
  EXPECT_EQ(network.LabelsPerSample(), 7);
  EXPECT_EQ(TokensPerSample(network), 7);
}

TEST(Sequences, OnlyCarriedStateIsKept) {
  const Network network = Parsed(OfTokens(
      R"({ name = "e", op = "embedding", units = 5 }, { name = "l", op = "lstm", units = 3, state = "reset" })"));
  EXPECT_TRUE(network.Buffers().empty());
  EXPECT_THAT(
      ErrorOf(OfValues("[4]", R"({ name = "l", op = "lstm", units = 3, state = "reset" })")),
      HasSubstr("it takes sequences [T, features], but its input has shape [4]"));
  EXPECT_THAT(
      ErrorOf(OfValues("[4, 2]", R"({ name = "l", op = "lstm", units = 3, state = "kept" })")),
      HasSubstr("'state' of layer 'l' is 'kept'"));
  EXPECT_THAT(ErrorOf(OfValues(
                  "[4, 2]", R"({ name = "l", op = "lstm", units = 16777216, state = "reset" })")),
              HasSubstr("use fewer units"));
}

TEST(Sequences, TokensAndNumbersAreNotTakenForEachOther) {
  EXPECT_THAT(ErrorOf(OfTokens("")),
              HasSubstr("dense takes numbers, but its input are token ids; embed them first"));
  EXPECT_THAT(ErrorOf(OfValues("[7]", R"({ name = "e", op = "embedding", units = 5 })")),
              HasSubstr("embedding takes token ids, but its input are numbers"));
}

}  // namespace
}  // namespace dlbench::network
