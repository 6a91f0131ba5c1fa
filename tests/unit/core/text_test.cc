#include "core/text.h"

#include <gtest/gtest.h>

namespace dlbench {
namespace {

TEST(Text, NumbersAreParsedWholeAndWithoutLocale) {
  EXPECT_EQ(ParseInt("42"), 42);
  EXPECT_FALSE(ParseInt("42x"));
  EXPECT_FALSE(ParseInt(""));
  EXPECT_FALSE(ParseInt("99999999999999999999"));
  EXPECT_DOUBLE_EQ(*ParseDouble("0.25"), 0.25);
  EXPECT_FALSE(ParseDouble("0,25"));
  EXPECT_FALSE(ParseDouble("nan"));
  EXPECT_FALSE(ParseDouble("inf"));
}

TEST(Text, SplitAndJoinAreInverse) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Join(Split("a,,b", ','), ","), "a,,b");
  EXPECT_EQ(Split("", ','), std::vector<std::string>{""});
}

TEST(Text, MisspeltWordsAreGuessedAndOtherWordsAreNot) {
  const std::vector<std::string> known{"pytorch", "onednn", "libtorch"};
  EXPECT_EQ(Nearest("pytroch", known), "pytorch");
  EXPECT_FALSE(Nearest("caffe", known));
  EXPECT_EQ(SuggestionFor("onedn", known), "; did you mean 'onednn'?");
  EXPECT_EQ(SuggestionFor("xyz", known), "; known: pytorch, onednn, libtorch");
}

TEST(Text, InvalidUtf8IsEscapedAndValidTextIsKept) {
  EXPECT_EQ(SanitizeUtf8("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(SanitizeUtf8("a\xFF"
                         "b"),
            "a\\xffb");
  EXPECT_EQ(SanitizeUtf8("\xC0\x80"), "\\xc0\\x80");           // overlong
  EXPECT_EQ(SanitizeUtf8("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(SanitizeUtf8("\xE2\x82"), "\\xe2\\x82");           // cut short
}

TEST(Text, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[31m\nb\t"), "a\\x1b[31m\nb\t");
}

}  // namespace
}  // namespace dlbench
