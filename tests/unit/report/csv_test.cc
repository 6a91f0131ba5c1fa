#include <fmt/format.h>
#include <gmock/gmock.h>

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <locale>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "report/present.h"
#include "samples.h"

namespace dlbench::report {
namespace {

using ::testing::HasSubstr;

TEST(C15, NumericColumnsNameTheirUnitAndBatchStandsInTheRow) {
  const auto csv = ParseCsv(Render(GoodReport(), Format::kCsv));
  for (std::size_t i = 0; i < 3; ++i) {
    const double step = ParseDouble(CsvCell(csv, i, "step_time_ms")).value();
    const double samples = ParseDouble(CsvCell(csv, i, "samples_per_s")).value();
    const double batch = ParseDouble(CsvCell(csv, i, "batch_samples")).value();
    EXPECT_NEAR(samples * step / 1000 / batch, 1.0, 0.005);
  }
  const auto json = nlohmann::json::parse(Render(GoodReport(), Format::kJson));
  for (const auto& result : json["results"]) {
    const double product = result["samples_per_second"].get<double>() *
                           result["step_seconds"]["estimate"].get<double>();
    EXPECT_NEAR(product / result["batch"].get<double>(), 1.0, 0.005);
  }
  const std::string table = Render(GoodReport(), Format::kTable);
  EXPECT_THAT(table, HasSubstr("step time [ms]"));
  EXPECT_THAT(table, HasSubstr("samples/s"));
  EXPECT_THAT(table, HasSubstr("batch 64"));
}

TEST(Csv, AFailedRowHasEmptyCellsAndTheSameColumns) {
  const auto csv = ParseCsv(Render(MixedReport(), Format::kCsv));
  ASSERT_EQ(csv.size(), 7U);
  EXPECT_EQ(CsvCell(csv, 1, "status"), "failed");
  EXPECT_EQ(CsvCell(csv, 1, "step_time_ms"), "");
  EXPECT_EQ(CsvCell(csv, 1, "signal"), "11");
}

/// The cells of the table's or Markdown's line for `framework`, split at runs of two blanks or
/// bars.
std::vector<std::string> CellsOf(const std::string& text, const std::string& framework) {
  for (const std::string& line : Split(text, '\n')) {
    if (line.find(framework + " 2.7") == std::string::npos) continue;
    std::vector<std::string> cells;
    std::string rest = line;
    for (std::size_t at = rest.find(" | "); at != std::string::npos; at = rest.find(" | ")) {
      rest.replace(at, 3, "   ");
    }
    while (!rest.empty()) {
      const std::size_t end = rest.find("  ");
      const std::string piece = rest.substr(0, end);
      if (const auto cell = Trim(piece); !cell.empty()) cells.emplace_back(cell);
      rest = end == std::string::npos ? "" : rest.substr(end + 2);
    }
    return cells;
  }
  return {};
}

/// `printed` is `exact` rounded to the printed digits.
void ExpectRounded(const std::string& printed, double exact) {
  const std::size_t point = printed.find('.');
  const int decimals =
      point == std::string::npos ? 0 : static_cast<int>(printed.size() - point - 1);
  EXPECT_EQ(printed, fmt::format("{:.{}f}", exact, decimals));
}

void ExpectWritersAgree() {
  const Report report = GoodReport();
  const auto json = nlohmann::json::parse(Render(report, Format::kJson));
  const auto csv = ParseCsv(Render(report, Format::kCsv));
  for (const Format format : {Format::kTable, Format::kMarkdown}) {
    const std::string text = Render(report, format);
    for (std::size_t i = 0; i < report.results.size(); ++i) {
      const auto& result = json["results"][i];
      const auto cells = CellsOf(text, report.results[i].framework);
      ASSERT_GE(cells.size(), 9U) << text;
      const double estimate = result["step_seconds"]["estimate"].get<double>();
      ExpectRounded(cells[4], estimate * 1e3);
      ExpectRounded(cells[7], result["samples_per_second"].get<double>());
      ExpectRounded(cells[8], result["percent_of_peak"].get<double>());
      const auto ends = cells[5].find(" to ");
      ASSERT_NE(ends, std::string::npos);
      ExpectRounded(cells[5].substr(0, ends), result["step_seconds"]["low"].get<double>() * 1e3);
      ExpectRounded(cells[5].substr(ends + 4), result["step_seconds"]["high"].get<double>() * 1e3);
      EXPECT_DOUBLE_EQ(ParseDouble(CsvCell(csv, i, "step_time_ms")).value(), estimate * 1e3);
      EXPECT_EQ(ParseDouble(CsvCell(csv, i, "samples_per_s")).value(),
                result["samples_per_second"].get<double>());
      EXPECT_EQ(ParseDouble(CsvCell(csv, i, "percent_of_peak")).value(),
                result["percent_of_peak"].get<double>());
    }
  }
}

TEST(C20, AllWritersAgreeToTheLastPrintedDigit) { ExpectWritersAgree(); }

TEST(C20, AllWritersAgreeAndDoNotChangeUnderACommaLocale) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "dlbench-locales";
  std::filesystem::create_directories(folder);
  const std::string make =
      "localedef -i de_DE -f UTF-8 '" + (folder / "de_DE.UTF-8").string() + "' >/dev/null 2>&1";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "localedef cannot make de_DE.UTF-8 here";
  std::vector<std::string> before;
  for (const Format format : {Format::kTable, Format::kMarkdown, Format::kCsv, Format::kJson}) {
    before.push_back(Render(MixedReport(), format));
  }
  setenv("LOCPATH", folder.c_str(), 1);
  const bool set = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  if (set) std::locale::global(std::locale("de_DE.UTF-8"));
  char printed[8];
  std::snprintf(printed, sizeof printed, "%.1f", 0.5);
  std::vector<std::string> after;
  for (const Format format : {Format::kTable, Format::kMarkdown, Format::kCsv, Format::kJson}) {
    after.push_back(Render(MixedReport(), format));
  }
  if (set) ExpectWritersAgree();
  std::locale::global(std::locale::classic());
  std::setlocale(LC_ALL, "C");
  unsetenv("LOCPATH");
  if (!set) GTEST_SKIP() << "the made locale de_DE.UTF-8 cannot be used here";
  EXPECT_STREQ(printed, "0,5") << "the locale is in force";
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace dlbench::report
