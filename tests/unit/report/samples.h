#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace dlbench::report {

/// A row of FCN-R on Fashion-MNIST, batch 64, 2 threads, equal and timed with ten launches.
ResultRow TimedRow(const std::string& framework, double step_seconds);
/// The same row with `status` instead, no timing field emptied: a writer must withhold them.
ResultRow RowWithStatus(const std::string& framework, const std::string& status);
/// Results `a` and `b` compared in `rounds` rounds.
ComparisonRow Compared(const Report& report, std::size_t a, std::size_t b,
                       measure::VerdictWord verdict, double half_width = 0.04);
/// onednn, libtorch and pytorch, all timed and compared with onednn.
Report GoodReport();
/// Good, crashed (SIGSEGV), good, unequal and unsupported.
Report MixedReport();

/// Records of an RFC 4180 text; an assertion of the test fails where it is not one.
std::vector<std::vector<std::string>> ParseCsv(const std::string& text);
/// Column `name` of record `record` (0: the first result).
std::string CsvCell(const std::vector<std::vector<std::string>>& records, std::size_t record,
                    const std::string& name);

}  // namespace dlbench::report
