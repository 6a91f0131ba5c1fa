#pragma once

#include <string>

#include "report/report.h"

namespace dlbench::report {

/// The one-sentence answer, from the rows and comparisons of `report` alone (its `sentence` is not
/// read). It compares the fastest arm of the first group that can be compared with the first-named
/// other framework of that group; with one arm it states its time; with none it counts why.
std::string BuildSentence(const Report& report);

}  // namespace dlbench::report
