#include "worker/json_text.h"

#include <gtest/gtest.h>

namespace dlbench::worker {
namespace {

TEST(JsonTextTest, DepthCountsOnlyBracketsOutsideStrings) {
  EXPECT_EQ(JsonDepth("1"), 0U);
  EXPECT_EQ(JsonDepth(R"({"a":[1,[2]]})"), 3U);
  EXPECT_EQ(JsonDepth(R"({"a":"[[[[","b\"[":1})"), 1U);
  EXPECT_EQ(JsonDepth("]]]["), 1U);
}

TEST(JsonTextTest, NonFiniteWordsBecomeNullOutsideStringsOnly) {
  std::string text = R"({"a":[NaN,-Infinity,Infinity,1],"b":"NaN \" Infinity"})";
  EXPECT_TRUE(ReplaceNonFinite(text));
  EXPECT_EQ(text, R"({"a":[null,null,null,1],"b":"NaN \" Infinity"})");
  std::string innocent = R"({"name":"finance","NaN":1})";
  EXPECT_FALSE(ReplaceNonFinite(innocent));
}

TEST(JsonTextTest, InvalidBytesAreEscapedAndValidTextIsUnchanged) {
  EXPECT_EQ(MendUtf8("{\"a\":\"\xFF\xC3\xA9\\n\"}"), "{\"a\":\"\\\\xff\xC3\xA9\\n\"}");
  EXPECT_EQ(MendUtf8("plain \xE2\x82\xAC"), "plain \xE2\x82\xAC");
}

}  // namespace
}  // namespace dlbench::worker
