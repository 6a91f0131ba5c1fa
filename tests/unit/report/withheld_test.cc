#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "report/sentence.h"
#include "samples.h"

namespace dlbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Format kFormats[] = {Format::kTable, Format::kMarkdown, Format::kCsv, Format::kJson};

class Withheld : public ::testing::TestWithParam<std::string> {};

TEST_P(Withheld, NoFormatShowsAnyTimingOfTheRow) {
  Report report = GoodReport();
  report.results[1] = RowWithStatus("libtorch", GetParam());
  // Distinct figures, so that one of them is found wherever it leaks.
  report.results[1].step_time->estimate = 0.0771717;
  report.results[1].step_time->low = 0.0772727;
  report.results[1].step_time->high = 0.0773737;
  report.results[1].mean_step_seconds = 0.0774747;
  report.results[1].first_step_seconds = 0.0775757;
  report.results[1].samples_per_second = 7767.67;
  report.results[1].percent_of_peak = 77.77;
  report.results[1].peak_memory_bytes = 778787;
  report.results[1].step_time->launches = 779;
  report.comparisons[0].comparison.ratio = 7.80808;
  report.comparisons[0].comparison.low = 7.81818;
  report.comparisons[0].comparison.high = 7.82828;
  report.sentence = BuildSentence(report);
  for (const Format format : kFormats) {
    const std::string text = Render(report, format);
    for (const char* digits : {"77", "78", "7.8"}) {
      EXPECT_THAT(text, Not(HasSubstr(digits))) << GetParam();
    }
    EXPECT_THAT(text, HasSubstr(GetParam()));
    EXPECT_THAT(text, HasSubstr("because of " + GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Statuses, Withheld,
                         ::testing::Values("unequal", "impossible", "failed", "unsupported",
                                           "a status of tomorrow"));

TEST(Shown, DisturbedAndImpreciseRowsShowTheirTimeAndTheirStatus) {
  for (const std::string status : {"disturbed", "imprecise"}) {
    Report report = GoodReport();
    report.results[1].status = report.results[2].status = status;
    EXPECT_THAT(Render(report, Format::kTable), HasSubstr("43.8"));
    EXPECT_THAT(Render(report, Format::kTable), HasSubstr(status + " [2]"));
    EXPECT_THAT(BuildSentence(report), HasSubstr(status)) << BuildSentence(report);
  }
}

TEST(C17, NonFiniteFiguresBecomeNullWithAReasonAndEmptyCells) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Report report = GoodReport();
  report.results[0].samples_per_second = nan;
  report.results[0].percent_of_peak = infinity;
  report.results[0].verification->worst[0].error.norm_relative = nan;
  report.results[0].verification->worst[0].error.finite = false;
  report.results[1].step_time->estimate = infinity;
  report.results[2].step_time->high = nan;
  report.comparisons[0].comparison.low = nan;
  for (const Format format : kFormats) {
    std::string text = Render(report, format);
    // Words that hold the letters, not numbers.
    for (const char* word : {"finite", "infer"}) {
      for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
        text.erase(at, 3);
      }
    }
    EXPECT_THAT(text, Not(HasSubstr("nan")));
    EXPECT_THAT(text, Not(HasSubstr("inf")));
  }
  const auto json = nlohmann::json::parse(Render(report, Format::kJson));
  EXPECT_TRUE(json["results"][0]["samples_per_second"].is_null());
  EXPECT_EQ(json["results"][0]["samples_per_second_reason"], "not finite");
  EXPECT_EQ(json["results"][1]["step_seconds_reason"], "not a finite time");
  EXPECT_EQ(json["results"][2]["step_seconds"]["interval_reason"], "not finite");
  EXPECT_TRUE(json["comparisons"][0]["ratio"].is_null());
  EXPECT_EQ(CsvCell(ParseCsv(Render(report, Format::kCsv)), 0, "samples_per_s"), "");
}

TEST(C18, FewerThanSixLaunchesHaveNoInterval) {
  for (const std::int64_t launches : {1, 2, 3}) {
    Report report = GoodReport();
    report.results.resize(1);
    report.comparisons.clear();
    report.results[0].step_time->launches = launches;
    report.results[0].step_time->low.reset();
    report.results[0].step_time->high.reset();
    report.sentence = BuildSentence(report);
    const std::string table = Render(report, Format::kTable);
    EXPECT_THAT(table, HasSubstr("no interval"));
    EXPECT_THAT(table, Not(HasSubstr("32.1 to 32.1")));
    EXPECT_THAT(report.sentence, Not(HasSubstr("faster")));
    const auto json = nlohmann::json::parse(Render(report, Format::kJson));
    EXPECT_TRUE(json["results"][0]["step_seconds"]["low"].is_null());
    EXPECT_EQ(json["results"][0]["step_seconds"]["interval_reason"], "fewer than 6 launches");
    const auto csv = ParseCsv(Render(report, Format::kCsv));
    EXPECT_EQ(CsvCell(csv, 0, "step_time_low_ms"), "");
    EXPECT_EQ(CsvCell(csv, 0, "launches"), std::to_string(launches));
  }
}

TEST(C06, AnUnknownModeIsShownAndNeverRankedBesideAKnownOne) {
  Report report = GoodReport();
  report.results[2].mode_label = "";
  report.sentence = BuildSentence(report);
  const std::string table = Render(report, Format::kTable);
  EXPECT_THAT(table, HasSubstr("not ranked: the mode of pytorch default is unknown"));
  EXPECT_THAT(report.sentence, HasSubstr("libtorch"));
  EXPECT_THAT(report.sentence, Not(HasSubstr("pytorch")));
  const auto json = nlohmann::json::parse(Render(report, Format::kJson));
  EXPECT_EQ(json["results"][2]["mode_label"], "unknown");
  EXPECT_TRUE(json["comparisons"][1]["verdict"].is_null());
  for (const auto& result : json["results"]) EXPECT_NE(result["mode_label"], "");
}

}  // namespace
}  // namespace dlbench::report
