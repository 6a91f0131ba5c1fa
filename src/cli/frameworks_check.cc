#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/validators.h"
#include "core/clock.h"
#include "core/file.h"
#include "experiment/conformance.h"
#include "network/parse.h"

namespace dlbench::cli {
namespace {

struct Options {
  std::string name;
  std::string preset = "default";
  int threads = 1;
};

/// A folder that goes away with the check.
class ScratchFolder {
 public:
  ScratchFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("dlbench-check-" + std::to_string(::getpid()))) {}
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

Status Execute(const Options& options, Context& context) {
  DLBENCH_ASSIGN_OR_RETURN(const auto installation, frameworks::Find(context.places, options.name));
  DLBENCH_ASSIGN_OR_RETURN(const auto network,
                           network::FindNetwork("fcn-tiny", context.network_folders));
  const ScratchFolder scratch;
  experiment::ConformanceRequest request;
  request.argv = installation.argv;
  request.environment =
      frameworks::LaunchEnvironment(installation, options.preset, options.threads, CacheHome());
  request.network = &network;
  request.folder = scratch.path();
  request.preset = options.preset;
  request.threads = options.threads;
  SystemClock clock;
  const InterruptGuard guard;
  DLBENCH_ASSIGN_OR_RETURN(const auto points,
                           experiment::CheckFramework(request, clock, guard.flag()));
  for (const auto& point : points) {
    *context.out << (point.ok ? "ok     " : "WRONG  ") << point.name;
    if (!point.message.empty()) *context.out << ": " << point.message;
    *context.out << '\n';
  }
  const auto wrong =
      std::count_if(points.begin(), points.end(), [](const auto& point) { return !point.ok; });
  *context.out << points.size() << " rules, " << wrong << " broken\n";
  if (wrong > 0) context.exit_status = kBadResult;
  return {};
}

}  // namespace

void AddFrameworksCheckCommand(CLI::App& app, Context& context) {
  CLI::App* command = app.get_subcommand("frameworks")
                          ->add_subcommand("check", "Test an adapter against the protocol");
  auto options = std::make_shared<Options>();
  command->add_option("name", options->name, "NAME or NAME@VERSION")->required();
  command->add_option("--preset", options->preset, "Preset to test (default: default)");
  command->add_option("--threads", options->threads, "Threads to ask for (default 1)")
      ->check(AboveZero());
  command->callback([options, &context] {
    if (const Status status = Execute(*options, context); !status.ok()) {
      Fail(context, status.error());
    }
  });
}

}  // namespace dlbench::cli
