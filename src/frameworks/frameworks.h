#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace dlbench::frameworks {

/// A framework's manifest: adapters/NAME/manifest.toml, parsed and checked.
struct Manifest {
  std::string name;      ///< "pytorch".
  std::string title;     ///< "PyTorch": how sentences call it.
  std::string kind;      ///< "builtin", "system", "venv", "root", "existing".
  std::string language;  ///< "python", "c++".
  std::string adapter;   ///< File of the adapter, relative to the manifest's folder.
  std::string lock;      ///< Lock file with hashes, relative; empty if none.
  std::string shares;    ///< Framework whose environment it uses ("libtorch" uses "pytorch").
  std::string version;   ///< The pinned version, text.
  std::vector<std::string> presets;
  std::map<std::string, std::map<std::string, std::string>> preset_notes;
  std::filesystem::path folder;
};

/// An environment that can be started: how the adapter of NAME[@VERSION] is run.
struct Installation {
  std::string id;       ///< "pytorch@2.13.0+cpu".
  std::string name;     ///< "pytorch".
  std::string version;  ///< "2.13.0".
  std::string kind;
  std::filesystem::path folder;   ///< Its folder in the data home; empty for builtin.
  std::vector<std::string> argv;  ///< Command line that starts the adapter.
  std::map<std::string, std::string> environment;
  std::string title;
};

/// Where manifests and shipped files are.
struct Places {
  std::filesystem::path adapters;   ///< Holds sdk/ and one folder per framework.
  std::filesystem::path binaries;   ///< Holds the built-in adapters' executables.
  std::filesystem::path data_home;  ///< Environments are below it.
};

/// All manifests, sorted by name; a broken one is an error with file and line.
Result<std::vector<Manifest>> LoadManifests(const Places& places);

/// One row of `dlbench frameworks list`.
struct Listed {
  Manifest manifest;
  std::vector<Installation> installed;  ///< Empty: not installed.
  std::string state;                    ///< "ready", "not installed", "broken: ...".
};
Result<std::vector<Listed>> List(const Places& places);

/// Resolves "NAME" or "NAME@VERSION" to something that can be started. kNotFound for an unknown
/// name (with the nearest known one), kUnsupported with the install command for a known one not
/// installed.
Result<Installation> Find(const Places& places, const std::string& name);

/// Progress of an install, one line each.
using ProgressLine = std::function<void(const std::string&)>;

struct InstallOptions {
  bool yes = false;          ///< Go on although the download is large.
  std::string only_variant;  ///< "cpu" or "cu..."; empty: what pip would take.
};
/// Makes the environment of `name`: locked against a parallel install, atomic (made aside, then
/// renamed), resumable, its size said before it starts, its log kept in the environment's folder.
Result<Installation> Install(const Places& places, const std::string& name,
                             const InstallOptions& options, const ProgressLine& progress);
/// Deletes the environment and says how many bytes that freed.
Result<std::uint64_t> Remove(const Places& places, const std::string& name);
/// Takes the user's own Python (`existing`): checked by importing the framework; nothing is changed
/// in it.
Result<Installation> AddExisting(const Places& places, const std::string& name,
                                 const std::filesystem::path& python, const std::string& label);

}  // namespace dlbench::frameworks
