#include "launches.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/file.h"
#include "network/parse.h"

namespace dlbench::bench {
namespace {

namespace fs = std::filesystem;

/// Steps before anything is timed: caches, thread pools and allocators are settled by then.
constexpr std::int64_t kWarmupSteps = 20;

Error ErrorOf(const worker::Failure& failure) {
  return Error(ErrorCode::kFailed, failure.message + failure.log_tail);
}

worker::PrepareRequest PrepareFor(const Subject& subject, const experiment::Case& inputs) {
  worker::PrepareRequest prepare;
  prepare.network = &inputs.network();
  prepare.weights = inputs.weights_path();
  prepare.batches = inputs.batches_path();
  prepare.batch = inputs.batch();
  prepare.pool = inputs.pool();
  prepare.threads = subject.threads;
  prepare.preset = subject.preset;
  prepare.variant = inputs.network().variant;
  return prepare;
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& name)
    : path_(fs::temp_directory_path() / fmt::format("dlbench-{}-{}", name, ::getpid())) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Subject::Label() const {
  return fmt::format("{} {}, {}, batch {}, threads {}", framework, preset, network, batch, threads);
}

Result<frameworks::Installation> FindInstallation(Subject& subject) {
  frameworks::Places places;
  places.adapters = fs::path(DLBENCH_SOURCE_DIR) / "adapters";
  places.binaries = fs::path(DLBENCH_BINARY_DIR) / "bin";
  places.data_home = DataHome();
  DLBENCH_ASSIGN_OR_RETURN(auto installation, frameworks::Find(places, subject.framework));
  if (!subject.preset.empty()) return installation;
  DLBENCH_ASSIGN_OR_RETURN(const auto manifests, frameworks::LoadManifests(places));
  subject.preset = "default";
  for (const auto& manifest : manifests) {
    const auto& presets = manifest.presets;
    if (manifest.name == installation.name &&
        std::find(presets.begin(), presets.end(), "recommended") != presets.end()) {
      subject.preset = "recommended";
    }
  }
  return installation;
}

Result<std::unique_ptr<experiment::Case>> MakeInputs(const std::string& name, std::int64_t batch,
                                                     const fs::path& folder) {
  DLBENCH_ASSIGN_OR_RETURN(const auto network,
                           network::FindNetwork(name, {fs::path(DLBENCH_SOURCE_DIR) / "networks"}));
  data::DataRequest request;
  request.kind = "synthetic";
  DLBENCH_ASSIGN_OR_RETURN(const auto dataset, data::LoadDataset(request, network));
  DLBENCH_ASSIGN_OR_RETURN(auto inputs, experiment::Case::Make(network, dataset, batch, 1));
  DLBENCH_RETURN_IF_ERROR(inputs->Write(folder));
  return inputs;
}

Result<std::unique_ptr<worker::Session>> StartWarm(const Subject& subject,
                                                   const frameworks::Installation& installation,
                                                   const experiment::Case& inputs, Clock& clock,
                                                   const fs::path& folder) {
  worker::LaunchSpec spec;
  spec.argv = installation.argv;
  spec.environment =
      frameworks::LaunchEnvironment(installation, subject.preset, subject.threads, CacheHome());
  spec.folder = folder;
  spec.threads = subject.threads;
  spec.limits.run = std::chrono::minutes(30);  // A busy machine is slow, not broken.
  auto started = worker::Session::Start(spec, clock, nullptr);
  if (!started.ok()) return ErrorOf(started.failure());
  auto session = std::move(*started);
  const auto hello = session->SayHello();
  if (!hello.ok()) return ErrorOf(hello.failure());
  const auto prepared = session->Prepare(PrepareFor(subject, inputs));
  if (!prepared.ok()) return ErrorOf(prepared.failure());
  const auto warm = session->Run({kWarmupSteps, 5, 0, true});
  if (!warm.ok()) return ErrorOf(warm.failure());
  return session;
}

}  // namespace dlbench::bench
