#pragma once

#include <string>

#include "report/report.h"

namespace dlbench::report {

/// For a terminal of `width` columns (0: as wide as it gets).
std::string RenderTable(const Report& report, int width, bool color);
/// GitHub's flavour of Markdown.
std::string RenderMarkdown(const Report& report);
/// One line a result, RFC 4180; comparisons are not in it (docs/results.md).
std::string RenderCsv(const Report& report);
/// The whole report (docs/results.md).
std::string RenderJson(const Report& report);

}  // namespace dlbench::report
