#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <string>

#include "dlbench_adapter.h"

namespace dlbench::adapter {
namespace {

std::string RoundTrip(const std::string& text) { return Json::Parse(text).Dump(); }

TEST(SdkJson, ValuesSurvive) {
  for (const std::string text :
       {"null", "true", "false", "0", "-0", "-17", "9223372036854775807", "-9223372036854775808",
        "0.10000000000000001", "1.5", "[]", "{}", "[1,[2,{\"a\":null}]]", "{\"b\":1,\"a\":2}",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\""}) {
    EXPECT_EQ(RoundTrip(text), text);
  }
  EXPECT_EQ(RoundTrip(" [ 1 , 2 ]\n"), "[1,2]");
  EXPECT_EQ(RoundTrip("\"\\u00e9\\ud83d\\ude00\\/\""), "\"\xC3\xA9\xF0\x9F\x98\x80/\"");
  EXPECT_DOUBLE_EQ(Json::Parse("1e-5").Real(), 1e-5);
  EXPECT_DOUBLE_EQ(Json::Parse("18446744073709551616").Real(), 18446744073709551616.0);
}

TEST(SdkJson, EveryDoubleSurvives) {
  for (const double value : {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 2.3025851249694824}) {
    EXPECT_EQ(Json::Parse(Json(value).Dump()).Real(), value);
  }
}

TEST(SdkJson, WrongTextIsRefused) {
  for (const std::string text :
       {"",        "nul",       "01",          "-",           "1.",       ".5",
        "1e",      "+1",        "1e999",       "NaN",         "Infinity", "[1,]",
        "[1",      "{",         "{\"a\"}",     "{\"a\":}",    "{a:1}",    "\"a",
        "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\n\"",   "1 2",
        "[1 2]",   "'a'"}) {
    EXPECT_THROW(Json::Parse(text), std::runtime_error) << text;
  }
  EXPECT_THROW(Json::Parse(std::string(100000, '[')), std::runtime_error);
}

TEST(SdkJson, MissingAndWrongFieldsAreNamed) {
  const Json json = Json::Parse("{\"a\":\"x\"}");
  try {
    json.IntegerAt("b");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "field 'b' is missing");
  }
  try {
    json.IntegerAt("a");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "field 'a' is not an integer");
  }
}

TEST(SdkJson, NonFiniteNumbersAreNotSent) {
  EXPECT_THROW(Json(std::numeric_limits<double>::quiet_NaN()).Dump(), std::runtime_error);
  EXPECT_THROW(Json(std::numeric_limits<double>::infinity()).Dump(), std::runtime_error);
}

TEST(SdkJson, BytesThatAreNotUtf8BecomeReadable) {
  EXPECT_EQ(Json("a\xFF\xC3").Dump(), "\"a\\\\xFF\\\\xC3\"");
  EXPECT_EQ(ValidUtf8("\xC0\x80"), "\\xC0\\x80");                    // Overlong.
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), "\\xED\\xA0\\x80");           // Surrogate.
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");  // Above U+10FFFF.
  EXPECT_EQ(ValidUtf8("\xE2\x82\xAC"), "\xE2\x82\xAC");
}

TEST(SdkJson, TheLocaleDoesNotMatter) {
  const char* comma = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    if (comma == nullptr) comma = std::setlocale(LC_ALL, name);
  }
  if (comma == nullptr) GTEST_SKIP() << "no locale with a decimal comma is installed";
  EXPECT_EQ(RoundTrip("1.5"), "1.5");
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace dlbench::adapter
