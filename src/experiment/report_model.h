#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "report/report.h"
#include "store/store.h"

namespace dlbench::experiment {

/// Builds the report of a campaign from what is stored, and from nothing else: `run` and a later
/// `report` show the same. `campaign` 0 means the newest.
Result<report::Report> BuildReport(store::Store& store, std::int64_t campaign,
                                   const std::string& results_folder);

}  // namespace dlbench::experiment
