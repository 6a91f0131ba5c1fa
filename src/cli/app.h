#pragma once

#include <iosfwd>

namespace dlbench::cli {

/// Parses the command line and runs the command it names. Data go to `out`, everything else to
/// `err`. Returns the exit status of docs/exit-status.md.
int RunApp(int argc, char** argv, std::ostream& out, std::ostream& err);

}  // namespace dlbench::cli
