#include "report/report.h"

#include <utility>
#include <vector>

#include "core/text.h"
#include "report/writers.h"

namespace dlbench::report {

Result<Format> ParseFormat(const std::string& text) {
  static const std::vector<std::pair<std::string, Format>> known{{"table", Format::kTable},
                                                                 {"markdown", Format::kMarkdown},
                                                                 {"csv", Format::kCsv},
                                                                 {"json", Format::kJson}};
  std::vector<std::string> names;
  for (const auto& [name, format] : known) {
    if (name == text) return format;
    names.push_back(name);
  }
  return Error(ErrorCode::kUsage, "unknown format '" + text + "'" + SuggestionFor(text, names));
}

std::string Render(const Report& report, Format format, int width, bool color) {
  switch (format) {
    case Format::kTable:
      return RenderTable(report, width, color);
    case Format::kMarkdown:
      return RenderMarkdown(report);
    case Format::kCsv:
      return RenderCsv(report);
    case Format::kJson:
      return RenderJson(report);
  }
  return "";
}

}  // namespace dlbench::report
