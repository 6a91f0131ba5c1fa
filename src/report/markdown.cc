#include "core/text.h"
#include "report/grid.h"
#include "report/writers.h"

namespace dlbench::report {
namespace {

/// One line of text in which nothing is markup: punctuation that Markdown reads is escaped, as is
/// what would be HTML.
std::string Escaped(const std::string& raw) {
  std::string text;
  for (const char c : Printable(raw)) {
    switch (c) {
      case '\n':
      case '\t':
        text += ' ';
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '&':
        text += "&amp;";
        break;
      case '\\':
      case '|':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '#':
      case '~':
        text += '\\';
        text += c;
        break;
      default:
        text += c;
    }
  }
  return text;
}

std::string GridText(const Grid& grid) {
  std::string titles = "|";
  std::string rule = "|";
  for (const GridColumn& column : grid.columns) {
    titles += " " + Escaped(column.title) + " |";
    rule += column.number ? " ---: |" : " --- |";
  }
  std::string text = "## " + Escaped(grid.heading) + "\n\n" + titles + "\n" + rule + "\n";
  for (const auto& row : grid.rows) {
    text += "|";
    for (const Cell& cell : row) text += " " + Escaped(cell.text) + " |";
    text += "\n";
  }
  return text + "\n";
}

std::string NoteText(const Note& note) {
  std::string text = "**" + Escaped(note.head) + "**\n\n";
  for (const std::string& line : note.lines) text += "* " + Escaped(line) + "\n";
  if (!note.log_tail.empty()) {
    text += "* last lines of its log:\n\n";
    // Indented code inside the list item: no fence that the log could close.
    for (const std::string& line : Split(Printable(note.log_tail), '\n')) {
      text += "      " + line + "\n";
    }
  }
  return text + "\n";
}

}  // namespace

std::string RenderMarkdown(const Report& report) {
  const Page page = MakePage(report);
  std::string text = "# dlbench report\n\n";
  if (!page.sentence.empty()) text += "**" + Escaped(page.sentence) + "**\n\n";
  for (const std::string& line : page.head) text += "* " + Escaped(line) + "\n";
  text += "\n";
  for (const Grid& grid : page.grids) text += GridText(grid);
  for (const Note& note : page.notes) text += NoteText(note);
  if (!page.comparisons.rows.empty()) text += GridText(page.comparisons);
  for (const std::string& warning : page.warnings) text += "* warning: " + Escaped(warning) + "\n";
  return text;
}

}  // namespace dlbench::report
