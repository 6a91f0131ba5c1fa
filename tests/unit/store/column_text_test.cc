#include "store/column_text.h"

#include <gmock/gmock.h>

#include <limits>

namespace dlbench::store {
namespace {

TEST(ColumnText, CutNeverSplitsACharacter) {
  // Logs of three-byte characters at every offset of the cut.
  for (std::size_t lead = 0; lead < 3; ++lead) {
    std::string log(lead, 'x');
    while (log.size() < 2 * kLogLimitBytes) log += "\u20AC";
    const std::string cut = CutLog(log);
    const std::string kept = cut.substr(cut.find('\n') + 1);
    EXPECT_EQ(kept.size() % 3, 0U);
    EXPECT_LE(cut.size(), kLogLimitBytes);
    EXPECT_EQ(cut.find("\\x"), std::string::npos);
    EXPECT_EQ("[" + std::to_string(log.size() - kept.size()) + " bytes cut]\n" + kept, cut);
  }
}

TEST(ColumnText, LogAtTheLimitIsKept) {
  const std::string log(kLogLimitBytes, 'x');
  EXPECT_EQ(CutLog(log), log);
  EXPECT_NE(CutLog(log + "x"), log + "x");
}

TEST(ColumnText, MapsAndListsSurvive) {
  const std::map<std::string, std::string> texts{{"", "empty"}, {"a\"b", "\n\t\\"}};
  EXPECT_EQ(*TextMapFromJson(ToJson(texts)), texts);
  const std::map<std::string, double> numbers{{"a", 0.1}, {"b", -1e300}};
  EXPECT_EQ(*NumberMapFromJson(ToJson(numbers)), numbers);
  const std::vector<std::string> list{"x", ""};
  EXPECT_EQ(*TextListFromJson(ToJson(list)), list);
}

TEST(ColumnText, NumbersThatAreNotFiniteAreAbsent) {
  const std::map<std::string, double> numbers{{"nan", std::numeric_limits<double>::quiet_NaN()},
                                              {"inf", std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(ToJson(numbers), "{}");
}

TEST(ColumnText, DamagedJsonIsAnError) {
  for (const char* damaged : {"", "{", "[]", "{\"a\": 1}", "null"}) {
    EXPECT_FALSE(TextMapFromJson(damaged).ok()) << damaged;
  }
  EXPECT_FALSE(NumberMapFromJson(R"({"a": "text"})").ok());
  EXPECT_FALSE(TextListFromJson("{}").ok());
}

}  // namespace
}  // namespace dlbench::store
