#include <algorithm>
#include <numeric>

#include "core/text.h"
#include "report/grid.h"
#include "report/writers.h"

namespace dlbench::report {
namespace {

constexpr std::size_t kGap = 2;
/// A text column is never made narrower.
constexpr std::size_t kLeastWidth = 8;

/// Characters of valid UTF-8; what the terminal makes of wide ones is its own affair.
std::size_t Length(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

/// One line without control characters.
std::string OneLine(const std::string& text) {
  std::string line = Printable(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

/// At most `width` characters; what was cut shows as "~".
std::string Shorten(const std::string& text, std::size_t width) {
  if (Length(text) <= width) return text;
  std::string cut;
  std::size_t length = 0;
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (starts && ++length == width) break;
    cut += c;
  }
  return cut + "~";
}

std::string Colored(const std::string& text, Tone tone, bool color) {
  if (!color || tone == Tone::kPlain) return text;
  return (tone == Tone::kGood ? "\x1b[32m" : "\x1b[31m") + text + "\x1b[0m";
}

std::vector<std::size_t> Widths(const Grid& grid, int limit) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    std::size_t width = Length(grid.columns[i].title);
    for (const auto& row : grid.rows) width = std::max(width, Length(OneLine(row[i].text)));
    widths.push_back(width);
  }
  if (limit <= 0) return widths;
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  };
  while (total() > static_cast<std::size_t>(limit)) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool candidate = !grid.columns[i].number && widths[i] > kLeastWidth;
      if (candidate && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

std::string Line(const Grid& grid, const std::vector<std::size_t>& widths,
                 const std::vector<Cell>& cells, bool color) {
  std::string line;
  std::size_t pending = 0;  // blanks that are written only if something follows
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = Shorten(OneLine(cells[i].text), widths[i]);
    const std::size_t padding = widths[i] - Length(text);
    if (i > 0) pending += kGap;
    if (grid.columns[i].number) pending += padding;
    if (!text.empty()) line += std::string(pending, ' ') + Colored(text, cells[i].tone, color);
    if (!text.empty()) pending = 0;
    if (text.empty()) pending += grid.columns[i].number ? 0 : padding;
    if (!text.empty() && !grid.columns[i].number) pending = padding;
  }
  return line + "\n";
}

std::string GridText(const Grid& grid, int width, bool color) {
  const auto widths = Widths(grid, width);
  std::vector<Cell> titles;
  for (const GridColumn& column : grid.columns) titles.push_back({column.title, Tone::kPlain});
  const std::string title_line = Line(grid, widths, titles, false);
  std::string text = OneLine(grid.heading) + "\n" + title_line;
  text += std::string(title_line.size() - 1, '-') + "\n";
  for (const auto& row : grid.rows) text += Line(grid, widths, row, color);
  return text + "\n";
}

std::string NoteText(const Note& note) {
  std::string text = OneLine(note.head) + "\n";
  for (const std::string& line : note.lines) text += "    " + OneLine(line) + "\n";
  if (!note.log_tail.empty()) {
    text += "    last lines of its log:\n";
    for (const std::string& line : Split(Printable(note.log_tail), '\n')) {
      text += "    | " + OneLine(line) + "\n";
    }
  }
  return text + "\n";
}

}  // namespace

std::string RenderTable(const Report& report, int width, bool color) {
  const Page page = MakePage(report);
  std::string text;
  for (const std::string& line : page.head) text += OneLine(line) + "\n";
  text += "\n";
  for (const Grid& grid : page.grids) text += GridText(grid, width, color);
  for (const Note& note : page.notes) text += NoteText(note);
  if (!page.comparisons.rows.empty()) text += GridText(page.comparisons, width, color);
  for (const std::string& warning : page.warnings) text += "warning: " + OneLine(warning) + "\n";
  if (!page.sentence.empty()) text += OneLine(page.sentence) + "\n";
  return text;
}

}  // namespace dlbench::report
