#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>

#include "cli/commands.h"
#include "core/text.h"
#include "store/store.h"

namespace dlbench::cli {
namespace {

Result<store::FigureCheck> CheckResults(const std::filesystem::path& folder) {
  DLBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<store::Store> results,
                           store::Store::OpenReadOnly(folder));
  return results->CheckAll();
}

void Check(Context& context, const std::string& folder) {
  const auto check = CheckResults(folder);
  if (!check.ok()) {
    Fail(context, check.error());
    return;
  }
  for (const std::string& disagreement : check->disagreements) {
    *context.out << Printable(disagreement) << '\n';
  }
  if (check->disagreements.empty()) {
    *context.out << fmt::format("{} launches, {} figures: all re-derived\n", check->launches,
                                check->figures);
    return;
  }
  *context.err << fmt::format("dlbench: {} of the stored results in '{}' do not hold\n",
                              check->disagreements.size(), Printable(folder));
  context.exit_status = kBadResult;
}

}  // namespace

void AddCheckCommand(CLI::App& app, Context& context) {
  // The callback owns the option: it lives as long as `app`.
  const auto folder = std::make_shared<std::string>("dlbench-results");
  CLI::App* check =
      app.add_subcommand("check", "Derive every stored figure again from the raw step times");
  check->add_option("--out", *folder, "Folder of the results")->capture_default_str();
  check->callback([folder, &context] { Check(context, *folder); });
}

}  // namespace dlbench::cli
