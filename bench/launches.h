#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/clock.h"
#include "core/result.h"
#include "experiment/inputs.h"
#include "frameworks/frameworks.h"
#include "worker/worker.h"

namespace dlbench::bench {

/// A folder that goes away with the program.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

/// What is trained, and by whom.
struct Subject {
  std::string framework;  ///< NAME or NAME@VERSION, as `dlbench frameworks list` shows.
  std::string preset;     ///< Empty: "recommended" where the framework has it, else "default".
  std::string network = "fcn-r";
  std::int64_t batch = 64;
  int threads = 1;

  /// "onednn recommended, fcn-r, batch 64, threads 1".
  std::string Label() const;
};

/// Fills the subject's preset and finds its framework among those built here and installed.
Result<frameworks::Installation> FindInstallation(Subject& subject);
/// A shipped network with synthetic data, written below `folder`.
Result<std::unique_ptr<experiment::Case>> MakeInputs(const std::string& network, std::int64_t batch,
                                                     const std::filesystem::path& folder);

/// A launch that has been prepared and warmed up: its next answer is one of a steady state.
/// `clock` must outlive it.
Result<std::unique_ptr<worker::Session>> StartWarm(const Subject& subject,
                                                   const frameworks::Installation& installation,
                                                   const experiment::Case& inputs, Clock& clock,
                                                   const std::filesystem::path& folder);

}  // namespace dlbench::bench
