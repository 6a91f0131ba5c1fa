#include "report/report.h"

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/validators.h"
#include "experiment/report_model.h"
#include "store/store.h"

namespace dlbench::cli {
namespace {

struct Options {
  std::string out = "dlbench-results";
  std::string format = "table";
  std::int64_t campaign = 0;
};

Status Execute(const Options& options, Context& context) {
  DLBENCH_ASSIGN_OR_RETURN(const report::Format format, report::ParseFormat(options.format));
  DLBENCH_ASSIGN_OR_RETURN(const auto store, store::Store::OpenReadOnly(options.out));
  DLBENCH_ASSIGN_OR_RETURN(const report::Report report,
                           experiment::BuildReport(*store, options.campaign, options.out));
  WriteReport(context, report, format);
  return {};
}

}  // namespace

void AddReportCommand(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("report", "Show a stored campaign again");
  auto options = std::make_shared<Options>();
  command->add_option("--out", options->out, "Results folder (default dlbench-results)");
  command->add_option("--format", options->format, "table, markdown, csv or json");
  command->add_option("--campaign", options->campaign, "Which one (default: the newest)")
      ->check(AboveZero());
  command->callback([options, &context] {
    if (const Status status = Execute(*options, context); !status.ok()) {
      Fail(context, status.error());
    }
  });
}

}  // namespace dlbench::cli
