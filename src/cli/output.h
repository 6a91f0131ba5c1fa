#pragma once

#include <string>

#include "cli/commands.h"
#include "experiment/plan.h"
#include "report/report.h"

namespace dlbench::cli {

/// Columns of the terminal behind `descriptor`; 0 where it is none or they are not known.
int TerminalWidth(int descriptor);

/// Writes `report` to `context.out`; a terminal gets its width and colour, a pipe neither.
void WriteReport(Context& context, const report::Report& report, report::Format format);

/// The shortest command line that runs `plan` again.
std::string DescribePlan(const experiment::Plan& plan, bool verify_only);

}  // namespace dlbench::cli
