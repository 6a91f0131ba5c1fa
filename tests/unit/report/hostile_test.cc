#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "core/text.h"
#include "samples.h"

namespace dlbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(C65, AFailedCellAnywhereLeavesAValidFileWithAllEntries) {
  for (std::size_t crashed = 0; crashed < 3; ++crashed) {
    Report report = GoodReport();
    ResultRow row = MixedReport().results[1];
    report.results[crashed] = row;
    const auto json = nlohmann::json::parse(Render(report, Format::kJson));
    ASSERT_EQ(json["results"].size(), 3U);
    const auto& entry = json["results"][crashed];
    EXPECT_EQ(entry["status"], "failed");
    EXPECT_EQ(entry["signal"], 11);
    EXPECT_THAT(entry["log_tail"].get<std::string>(), HasSubstr("Segmentation fault"));
    EXPECT_TRUE(entry["step_seconds"].is_null());
    EXPECT_EQ(ParseCsv(Render(report, Format::kCsv)).size(), 4U);
    const std::string table = Render(report, Format::kTable);
    EXPECT_THAT(table, HasSubstr("| Segmentation fault"));
    EXPECT_THAT(table, HasSubstr("(signal 11)"));
  }
}

TEST(C65, GoodCellsBesideAFailedOneAreStillRanked) {
  const auto json = nlohmann::json::parse(Render(MixedReport(), Format::kJson));
  EXPECT_EQ(json["comparisons"][0]["verdict"], "faster");
  EXPECT_THAT(json["sentence"].get<std::string>(), HasSubstr("onednn is"));
}

TEST(C67, AReasonWithLineBreaksQuotesNulAndLengthIsOneRecord) {
  const std::string reason = std::string("a\nb\tc\"d\\e,f\0g|<b>`", 19) + std::string(100'000, 'x');
  Report report = MixedReport();
  report.results[1].reason = reason;
  const auto json = nlohmann::json::parse(Render(report, Format::kJson));
  EXPECT_EQ(json["results"][1]["reason"].get<std::string>(), reason);
  const auto csv = ParseCsv(Render(report, Format::kCsv));
  ASSERT_EQ(csv.size(), 7U);
  EXPECT_EQ(CsvCell(csv, 1, "reason"), Printable(reason));
  for (const Format format : {Format::kTable, Format::kMarkdown}) {
    const std::string text = Render(report, format);
    EXPECT_THAT(text, HasSubstr("bytes cut)"));
    EXPECT_LT(text.size(), 20'000U);
    EXPECT_EQ(text.find('\0'), std::string::npos);
  }
  const std::string markdown = Render(report, Format::kMarkdown);
  EXPECT_THAT(markdown, HasSubstr("a b c\"d\\\\e,f\\\\x00g\\|&lt;b&gt;\\`"));
}

TEST(C67, RandomBytesSurviveInJsonAndCsvAndNeverBreakARecord) {
  Report small = MixedReport();
  small.results.resize(2);
  small.comparisons.clear();
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 256);
    Report report = small;
    report.results[1].reason = report.results[1].device = report.results[1].log_tail = bytes;
    report.results[1].framework = report.results[1].settings[bytes] = bytes;
    report.machine_summary = report.warnings[0] = bytes;
    const auto json = nlohmann::json::parse(Render(report, Format::kJson));
    ASSERT_EQ(json["results"][1]["device"].get<std::string>(), SanitizeUtf8(bytes));
    const auto csv = ParseCsv(Render(report, Format::kCsv));
    ASSERT_EQ(csv.size(), 3U);
    ASSERT_EQ(CsvCell(csv, 1, "reason"), Printable(bytes));
    const std::string table = Render(report, Format::kTable, 100);
    ASSERT_EQ(table, Printable(table)) << "control characters or bad UTF-8";
    const std::string markdown = Render(report, Format::kMarkdown);
    ASSERT_EQ(markdown, Printable(markdown));
  }
}

TEST(C68, InvalidUtf8FromTheSystemIsEscapedAndNumbersStay) {
  Report report = GoodReport();
  report.machine_summary = "CPU \xFF name";
  report.machine_json = "{\"cpu\":\"\xFF\"}";
  report.results[0].device = "cpu\xFF";
  report.results[0].settings["LANG"] = "\xFF";
  const auto json = nlohmann::json::parse(Render(report, Format::kJson));
  EXPECT_EQ(json["machine_summary"], "CPU \\xff name");
  EXPECT_EQ(json["results"][0]["device"], "cpu\\xff");
  EXPECT_EQ(json["results"][0]["step_seconds"]["estimate"], 0.0321);
  EXPECT_THAT(Render(report, Format::kTable), HasSubstr("CPU \\xff name"));
}

TEST(Markdown, ALogCannotLeaveItsBlock) {
  Report report = MixedReport();
  report.results[1].log_tail = "```\n# heading\n<script>\n";
  const std::string markdown = Render(report, Format::kMarkdown);
  EXPECT_THAT(markdown, HasSubstr("\n      ```\n      # heading\n      <script>\n"));
  EXPECT_THAT(markdown, Not(HasSubstr("\n# heading")));
}

}  // namespace
}  // namespace dlbench::report
