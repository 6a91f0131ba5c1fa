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

/// One build of a framework that can be installed; the first that pip's sources offer is taken.
struct Variant {
  std::string name;               ///< "cpu", "cu13".
  std::string lock;               ///< Lock file with hashes, relative to the manifest's folder.
  std::string needs;              ///< "torch==2.13.0+cpu": pip's sources must have it; empty: any.
  std::uint64_t download_mb = 0;  ///< About, in 10^6 bytes.
  std::uint64_t disk_mb = 0;      ///< About, in 10^6 bytes, when installed.
  bool ask = false;               ///< Large: installed only with InstallOptions::yes.
};

/// How an environment is tried: an import and one small training step (cases C73, C74).
struct ProbeRecipe {
  std::string module;                 ///< Imported; its __version__ is the framework's version.
  std::vector<std::string> packages;  ///< Distributions whose versions are told with a failure.
  std::string known_good;             ///< "numpy 1.26 to 2.4": told with a failure.
  std::string smoke;                  ///< Python: forward, backward, update, read back; may raise.
};

/// How a C++ adapter is built against the files of the framework named in `shares`.
struct BuildRecipe {
  std::string query;               ///< Python that prints {"flags": [...], "libraries": [...]}.
  std::vector<std::string> flags;  ///< For the compiler, before those of the query.
};

/// A framework's manifest: adapters/NAME/manifest.toml, parsed and checked (docs/frameworks.md).
struct Manifest {
  std::string name;      ///< "pytorch".
  std::string title;     ///< "PyTorch": how sentences call it.
  std::string kind;      ///< "builtin", "venv", "source" (built at install); "system", "root".
  std::string language;  ///< "python", "c++".
  std::string adapter;   ///< File of the adapter, relative to the manifest's folder.
  std::string shares;    ///< Framework whose environment it uses ("libtorch" uses "pytorch").
  std::string version;   ///< The pinned version, text.
  std::vector<std::string> presets;
  /// By preset: "what" it sets and the "source" that recommends it, each a sentence.
  std::map<std::string, std::map<std::string, std::string>> preset_notes;
  /// Environment variables of every launch; values may hold {threads}, {cache}, {folder}.
  std::map<std::string, std::string> environment;
  /// By preset: variables added to (or replacing those of) `environment`.
  std::map<std::string, std::map<std::string, std::string>> preset_environment;
  std::vector<std::string> pythons;  ///< Interpreters tried in this order ("python3.11").
  std::string python_version;        ///< "3.11": what the lock files are made for.
  std::vector<Variant> variants;
  ProbeRecipe probe;
  BuildRecipe build;
  std::filesystem::path folder;
};

/// An environment that can be started: how the adapter of NAME[@VERSION] is run.
struct Installation {
  std::string id;                 ///< "pytorch@2.13.0+cpu".
  std::string name;               ///< "pytorch".
  std::string version;            ///< "2.13.0".
  std::string variant;            ///< "cpu"; for an existing one its label.
  std::string kind;               ///< The manifest's, or "existing".
  std::filesystem::path folder;   ///< Its folder in the data home; empty for builtin.
  std::filesystem::path python;   ///< Its interpreter; empty where it has none.
  std::vector<std::string> argv;  ///< Command line that starts the adapter.
  /// Templates, not final values: launch with LaunchEnvironment(), which fills the placeholders
  /// {threads}, {cache} and {folder}.
  std::map<std::string, std::string> environment;
  std::map<std::string, std::map<std::string, std::string>> preset_environment;
  std::string title;                           ///< "PyTorch 2.13.0".
  std::map<std::string, std::string> details;  ///< For the record: compiler, package versions ...
  std::string broken;                          ///< Why it cannot be started; empty if it can.
};

/// Environment variables of one launch: the installation's and the preset's with {threads}
/// replaced by the number, {cache} by a folder of its own below `cache` (made by whoever writes
/// there), {folder} by the installation's. A value "{unset}" drops the variable.
std::map<std::string, std::string> LaunchEnvironment(const Installation& installation,
                                                     const std::string& preset, int threads,
                                                     const std::filesystem::path& cache);

/// Where manifests and shipped files are.
struct Places {
  std::filesystem::path adapters;   ///< Holds sdk/ and one folder per framework.
  std::filesystem::path binaries;   ///< Holds the built-in adapters' executables.
  std::filesystem::path data_home;  ///< Environments are below it.
};

/// Parses one manifest; errors name file, line and what is known there.
Result<Manifest> LoadManifest(const std::filesystem::path& file);
/// All manifests, sorted by name; a broken one is an error with file and line.
Result<std::vector<Manifest>> LoadManifests(const Places& places);

/// One row of `dlbench frameworks list`.
struct Listed {
  Manifest manifest;
  std::vector<Installation> installed;  ///< Empty: not installed. Broken ones are among them.
  std::string state;                    ///< "ready", "not installed", "broken: ...".
};
Result<std::vector<Listed>> List(const Places& places);

/// What trying an environment showed.
struct ProbeReport {
  bool ok = false;
  std::string version;   ///< As the framework says; empty if it could not be imported.
  std::string failure;   ///< "import fails: AttributeError: ..."; empty if ok.
  std::string warnings;  ///< What it printed on stderr, at most 4 KiB (case C74: kept).
  std::map<std::string, std::string> packages;  ///< Versions of the recipe's packages.
};
/// Imports the framework in its environment and takes one small step; takes seconds. For an
/// installation built from source the adapter is started with --probe (it prints the same report);
/// a builtin one is only looked for. An Error means that nothing could be tried (no such program);
/// a failing import is a report.
Result<ProbeReport> Probe(const Manifest& manifest, const Installation& installation);
/// "ready", or "present, import fails: ... (torch 2.13.0, numpy 1.23.5; known good: ...)".
std::string StateOf(const Manifest& manifest, const ProbeReport& report);

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
/// renamed), resumable (what pip has cached is not downloaded again), its size said before it
/// starts, its log kept in the environment's folder. One that is there already is returned as it
/// is.
Result<Installation> Install(const Places& places, const std::string& name,
                             const InstallOptions& options, const ProgressLine& progress);
/// Deletes the environment "NAME" or "NAME@VERSION" and says how many bytes that freed. Refused
/// while another environment uses it; an existing Python itself is never touched.
Result<std::uint64_t> Remove(const Places& places, const std::string& name);
/// Takes the user's own Python (`existing`): checked by importing the framework; nothing is changed
/// in it. `label` (empty: "mine") gives the id NAME@LABEL. For a framework built from source the
/// adapter is built against that Python's package.
Result<Installation> AddExisting(const Places& places, const std::string& name,
                                 const std::filesystem::path& python, const std::string& label);

}  // namespace dlbench::frameworks
