#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report.h"

namespace dlbench::report {

/// What a cell says about its row, for colours.
enum class Tone { kPlain, kGood, kBad };

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};

struct GridColumn {
  std::string title;
  bool number = false;  ///< Aligned to the right and never shortened.
};

/// Results that share network, data, batch, mode, device, precision and input.
struct Grid {
  std::string heading;
  std::vector<GridColumn> columns;
  std::vector<std::vector<Cell>> rows;
};

/// What is told of a row below the tables: why it has no timing, or what to know about it.
struct Note {
  std::string head;  ///< "[1] pytorch recommended: unequal".
  std::vector<std::string> lines;
  std::string log_tail;  ///< Raw text of the worker; empty where there is none.
};

/// Everything that the table and Markdown writers show, as text; they only lay it out.
struct Page {
  std::vector<std::string> head;
  std::vector<Grid> grids;
  std::vector<Note> notes;
  Grid comparisons;  ///< Without rows where there are none.
  std::string sentence;
  std::vector<std::string> warnings;
};

/// The page of `report`. Texts are raw: the writers escape them.
Page MakePage(const Report& report);

}  // namespace dlbench::report
