#pragma once

#include <filesystem>
#include <string>

#include "core/result.h"
#include "frameworks/frameworks.h"
#include "frameworks/record.h"

namespace dlbench::frameworks {

/// Kind venv: an interpreter, a virtual environment, pip with hashes, a trial, the record. The
/// caller holds the lock.
Result<Installation> InstallVenv(const Places& places, const Manifest& manifest,
                                 const InstallOptions& options, const ProgressLine& progress);

/// What a C++ adapter is built against.
struct BuildBase {
  std::filesystem::path python;  ///< Its package has the headers and libraries.
  std::string uses;              ///< Id of that environment; empty for the user's own Python.
  std::string label;             ///< For the user's own Python: variant and id; else empty.
};
/// Kind source: compiles the adapter against `base`, tries it, writes the record. The caller holds
/// the lock.
Result<Installation> InstallSource(const Places& places, const Manifest& manifest,
                                   const BuildBase& base, const ProgressLine& progress);

/// The first of the manifest's interpreters that has its version and the venv module; the error
/// says what to install.
Result<std::filesystem::path> FindPython(const Manifest& manifest);

/// Takes an environment in `folder` (not yet published) through Probe(); an error if it fails.
Result<ProbeReport> TryFresh(const Manifest& manifest, Installation installation);

}  // namespace dlbench::frameworks
