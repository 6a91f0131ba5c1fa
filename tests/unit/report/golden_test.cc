#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/file.h"
#include "samples.h"

namespace dlbench::report {
namespace {

/// Compares `text` with tests/golden/report/NAME; tools/accept_golden.sh writes it instead.
void ExpectGolden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(DLBENCH_SOURCE_DIR) / "tests/golden/report" / name;
  if (std::getenv("DLBENCH_ACCEPT_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(path, text));
    return;
  }
  const auto golden = ReadFile(path);
  ASSERT_TRUE(golden) << golden.error().message() << "; make it with tools/accept_golden.sh";
  EXPECT_EQ(*golden, text) << name << " changed; look, then accept with tools/accept_golden.sh";
}

TEST(Golden, GoodReport) {
  ExpectGolden("good.txt", Render(GoodReport(), Format::kTable));
  ExpectGolden("good.md", Render(GoodReport(), Format::kMarkdown));
  ExpectGolden("good.csv", Render(GoodReport(), Format::kCsv));
  ExpectGolden("good.json", Render(GoodReport(), Format::kJson));
}

TEST(Golden, ReportWithFailures) {
  ExpectGolden("mixed.txt", Render(MixedReport(), Format::kTable));
  ExpectGolden("mixed-100-columns.txt", Render(MixedReport(), Format::kTable, 100));
  ExpectGolden("mixed.md", Render(MixedReport(), Format::kMarkdown));
  ExpectGolden("mixed.csv", Render(MixedReport(), Format::kCsv));
  ExpectGolden("mixed.json", Render(MixedReport(), Format::kJson));
}

}  // namespace
}  // namespace dlbench::report
