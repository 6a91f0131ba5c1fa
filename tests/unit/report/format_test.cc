#include <gmock/gmock.h>

#include "core/text.h"
#include "report/present.h"
#include "samples.h"

namespace dlbench::report {
namespace {

using ::testing::HasSubstr;

TEST(Decimals, FollowTheWidthOfTheInterval) {
  EXPECT_EQ(Fixed(12.3456, Decimals(12.3456, 12.1, 12.6)), "12.35");        // half-width 0.25
  EXPECT_EQ(Fixed(12.3456, Decimals(12.3456, 10.0, 14.0)), "12.3");         // 2.0
  EXPECT_EQ(Fixed(12.3456, Decimals(12.3456, 12.345, 12.346)), "12.3456");  // 0.0005, at most six
  EXPECT_EQ(Fixed(12.3456, Decimals(12.3456, {}, {})), "12.3");
  EXPECT_EQ(Fixed(0.00123456, Decimals(0.00123456, {}, {})), "0.00123");
  EXPECT_EQ(Fixed(123456.0, Decimals(123456.0, 90000.0, 150000.0)), "123456");
  EXPECT_EQ(Fixed(5.0, Decimals(5.0, 5.0, 5.0)), "5.00000");
  EXPECT_EQ(Decimals(0.0, {}, {}), 0);
}

TEST(Unit, IsChosenOnceFromTheFastest) {
  Report report = GoodReport();
  EXPECT_STREQ(ChooseUnit(report).name, "ms");
  report.results[0].step_time->estimate = 5e-4;
  EXPECT_STREQ(ChooseUnit(report).name, "us");
  report.results[0].status = "unequal";
  EXPECT_STREQ(ChooseUnit(report).name, "ms");
  for (ResultRow& row : report.results) row.step_time->estimate = 3.0;
  EXPECT_STREQ(ChooseUnit(report).name, "s");
}

TEST(ParseFormat, KnowsFourFormats) {
  EXPECT_EQ(*ParseFormat("csv"), Format::kCsv);
  const auto unknown = ParseFormat("jsn");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), ErrorCode::kUsage);
  EXPECT_THAT(unknown.error().message(), HasSubstr("did you mean 'json'?"));
}

TEST(Table, FitsTheTerminalByShorteningTextsAlone) {
  Report report = GoodReport();
  report.results[0].framework_title = std::string(60, 'x');
  report.comparisons.clear();
  report.sentence.clear();
  const std::string table = Render(report, Format::kTable, 120);
  for (const std::string& line : Split(table, '\n')) EXPECT_LE(line.size(), 120U) << line;
  EXPECT_THAT(table, HasSubstr("xxxx~"));
  EXPECT_THAT(table, HasSubstr("31.14 to 32.74"));
}

TEST(Table, ColorsOnlyOnRequest) {
  EXPECT_EQ(Render(MixedReport(), Format::kTable).find('\x1b'), std::string::npos);
  const std::string colored = Render(MixedReport(), Format::kTable, 0, true);
  EXPECT_THAT(colored, HasSubstr("\x1b[32mequal\x1b[0m"));
  EXPECT_THAT(colored, HasSubstr("\x1b[31munequal [2]\x1b[0m"));
}

TEST(Table, SyntheticDataAreNamedWhereverTheDataAre) {
  Report report = GoodReport();
  for (ResultRow& row : report.results) row.synthetic = true;
  for (const Format format : {Format::kTable, Format::kMarkdown, Format::kCsv, Format::kJson}) {
    EXPECT_THAT(Render(report, format), HasSubstr("Fashion-MNIST (synthetic)"));
  }
  for (ResultRow& row : report.results) row.data = "synthetic";
  EXPECT_THAT(Render(report, Format::kTable), HasSubstr("FCN-R on synthetic, batch"));
}

TEST(Table, ResultsOfDifferentBatchesStandApart) {
  Report report = GoodReport();
  report.results[1].batch = 128;
  const std::string table = Render(report, Format::kTable);
  EXPECT_THAT(table, HasSubstr("Fashion-MNIST, batch 64,"));
  EXPECT_THAT(table, HasSubstr("Fashion-MNIST, batch 128,"));
}

}  // namespace
}  // namespace dlbench::report
