// [input]: values and tokens, and what the named data set has.
#include <gmock/gmock.h>

#include "network/parse.h"
#include "network_text.h"

namespace dlbench::network {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kEmbedding = R"({ name = "e", op = "embedding", units = 5 })";
constexpr const char* kFlatten = R"({ name = "f", op = "flatten" })";

std::string ErrorOf(const std::string& text) {
  const auto network = ParseNetwork(text, "my.toml");
  return network ? "no error" : network.error().message();
}

std::string Changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Input, TokensHaveAVocabularyAndNoScale) {
  const std::string text = OfTokens(kEmbedding);
  const auto network = ParseNetwork(text, "my.toml");
  ASSERT_TRUE(network) << network.error().message();
  EXPECT_EQ(network->input.kind, Input::Kind::kTokens);
  EXPECT_EQ(network->input.shape, Shape{7});
  EXPECT_THAT(ErrorOf(Changed(text, "vocabulary = 11", "vocabulary = 11\nscale = 1.0")),
              HasSubstr("'scale' is for values, but tokens are ids; remove it"));
  EXPECT_THAT(ErrorOf(Changed(text, "vocabulary = 11", "vocabulary = 11\noffset = 0")),
              HasSubstr("'offset' is for values"));
  EXPECT_THAT(ErrorOf(Changed(text, "vocabulary = 11", "")), HasSubstr("has no 'vocabulary'"));
  EXPECT_THAT(ErrorOf(Changed(text, "vocabulary = 11", "vocabulary = 16000001")),
              HasSubstr("'vocabulary' of [input] is 16000001"));
  EXPECT_THAT(ErrorOf(Changed(text, "shape = [7]", "shape = [7, 2]")),
              HasSubstr("tokens come in sequences [T], not as [7, 2]"));
  EXPECT_THAT(ErrorOf(Changed(text, "\"tokens\"", "\"token\"")),
              HasSubstr("did you mean 'tokens'?"));
}

TEST(Input, ValuesHaveNoVocabulary) {
  EXPECT_THAT(ErrorOf(With("scale = 0.5", "scale = 0.5\nvocabulary = 3")),
              HasSubstr("'vocabulary' is for tokens; remove it or write kind"));
  EXPECT_TRUE(ParseNetwork(With("scale = 0.5", "scale = 0.5\nkind = \"values\""), "my.toml"));
}

TEST(Input, ATextsLabelsAreItsWords) {
  const std::string text = Changed(OfTokens(kEmbedding), "\"synthetic\"", "\"text\"");
  EXPECT_THAT(ErrorOf(text), HasSubstr("'classes' is 2, but the words to predict are a vocabulary "
                                       "of 11"));
  EXPECT_EQ(ErrorOf(Changed(text, "vocabulary = 11", "vocabulary = 2")), "no error");
  EXPECT_THAT(ErrorOf(With("\"synthetic\"", "\"text\"")),
              HasSubstr("the input takes values, but 'text' has tokens"));
  EXPECT_THAT(ErrorOf(Changed(OfTokens(kEmbedding), "\"synthetic\"", "\"mnist\"")),
              HasSubstr("the input takes tokens, but 'mnist' has values"));
}

TEST(Input, ChannelsComeFirst) {
  const auto cifar = [](const std::string& shape) {
    std::string text = Changed(OfValues(shape, kFlatten), "\"synthetic\"", "\"cifar10\"");
    text = Changed(text, "classes = 2", "classes = 10");
    return Changed(text, "units = 2", "units = 10");
  };
  EXPECT_EQ(ErrorOf(cifar("[3, 32, 32]")), "no error");
  EXPECT_THAT(ErrorOf(cifar("[32, 32, 3]")),
              HasSubstr("the input is [32, 32, 3], but samples of 'cifar10' are [3, 32, 32]"));
  EXPECT_THAT(ErrorOf(cifar("[3, 224, 224]")),
              HasSubstr("has 150528 elements, but 'cifar10' has 3072"));
  EXPECT_THAT(ErrorOf(Changed(cifar("[3, 32, 32]"), "classes = 10", "classes = 100")),
              HasSubstr("'classes' is 100, but 'cifar10' has 10"));
}

TEST(Loss, TakesOneRowOfLogitsForEachStepOfASequence) {
  const auto network =
      ParseNetwork(OfValues("[6, 3]", R"({ name = "t", op = "tanh" })"), "my.toml");
  ASSERT_TRUE(network) << network.error().message();
  EXPECT_EQ(network->LabelsPerSample(), 6);
  EXPECT_THAT(ErrorOf(Changed(OfTokens(kEmbedding), "units = 2", "units = 3")),
              HasSubstr("the logits of 'out' have shape [7, 3], but there are 2 classes; they must "
                        "have shape [7, 2]"));
}

}  // namespace
}  // namespace dlbench::network
