#include <fmt/format.h>

#include <array>
#include <fstream>

#include "core/text.h"
#include "frameworks/install.h"
#include "frameworks/staging.h"

namespace dlbench::frameworks {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kShort{60};

/// Settings of a user's pip that would send packages elsewhere than into the environment.
const std::vector<std::string> kUnset = {"PIP_TARGET", "PIP_PREFIX", "PIP_USER",  "PIP_ROOT",
                                         "PYTHONPATH", "PYTHONHOME", "LD_PRELOAD"};

Command PythonCommand(const fs::path& python, std::vector<std::string> arguments) {
  Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), python.string());
  command.unset = kUnset;
  command.environment = {{"PYTHONNOUSERSITE", "1"}};
  return command;
}

/// True when pip's sources offer exactly `needs` ("torch==2.13.0+cpu") for this interpreter.
/// Nothing is downloaded.
bool PipOffers(Staging& staging, const fs::path& python, const std::string& needs) {
  const std::size_t equals = needs.find("==");
  if (equals == std::string::npos) return true;
  const std::string version = needs.substr(equals + 2);
  Command command = PythonCommand(python, {"-m", "pip", "index", "versions", "--no-input",
                                           "--disable-pip-version-check", needs.substr(0, equals)});
  const Result<CommandResult> result = staging.Run("asking pip's sources", command);
  if (!result.ok()) return false;
  for (const std::string& line : Split(result->out, '\n')) {
    const std::string head = "Available versions: ";
    if (line.rfind(head, 0) != 0) continue;
    for (const std::string& offered : Split(line.substr(head.size()), ',')) {
      if (Trim(offered) == version) return true;
    }
  }
  return false;
}

std::string VariantNames(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const Variant& variant : manifest.variants) names.push_back(variant.name);
  return Join(names, ", ");
}

Result<Variant> ChooseVariant(Staging& staging, const Manifest& manifest, const fs::path& python,
                              const InstallOptions& options) {
  for (const Variant& variant : manifest.variants) {
    if (!options.only_variant.empty() && variant.name != options.only_variant) continue;
    if (PipOffers(staging, python, variant.needs)) return variant;
    if (!options.only_variant.empty()) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("pip's configured sources do not offer {} for this Python; add a "
                               "folder with its wheel (pip config set global.find-links FOLDER), "
                               "or leave the variant open",
                               variant.needs));
    }
  }
  if (!options.only_variant.empty()) {
    return Error(ErrorCode::kUsage, manifest.name + " has no variant '" + options.only_variant +
                                        "'; it has: " + VariantNames(manifest));
  }
  return Error(ErrorCode::kUnsupported, "pip's configured sources offer no build of " +
                                            manifest.title + " " + manifest.version + "; see " +
                                            staging.failed_log().string());
}

/// Says the size; refuses a large download without --yes, and one that the disk has no room for.
Status AgreeOnSize(const Manifest& manifest, const Variant& variant, const InstallOptions& options,
                   const fs::path& folder, const ProgressLine& progress) {
  const std::string id = manifest.name + "@" + manifest.version + "+" + variant.name;
  const std::string size =
      fmt::format("{}: about {} to download, {} on disk", id,
                  SizeText(variant.download_mb * 1'000'000), SizeText(variant.disk_mb * 1'000'000));
  if (variant.ask && !options.yes) {
    return Error(ErrorCode::kUsage,
                 size + "; to go on: dlbench frameworks install " + manifest.name + " --yes");
  }
  std::error_code failure;
  const fs::space_info space = fs::space(folder, failure);
  if (!failure && space.available < variant.disk_mb * 1'000'000) {
    return Error(ErrorCode::kIo, size + ", but only " + SizeText(space.available) +
                                     " are free in '" + folder.parent_path().string() +
                                     "'; make room or set XDG_DATA_HOME to another disk");
  }
  progress(size);
  return {};
}

Status PipInstall(Staging& staging, const fs::path& python, const fs::path& lock,
                  const ProgressLine& progress) {
  Command command = PythonCommand(
      python, {"-m", "pip", "install", "--require-hashes", "--only-binary", ":all:", "--no-input",
               "--disable-pip-version-check", "--progress-bar", "off", "-r", lock.string()});
  command.line = [&progress](const std::string& line) {
    const std::string_view text = Trim(line);
    for (const char* head : {"Downloading ", "Processing ", "Installing "}) {
      if (text.rfind(head, 0) == 0) progress(Printable(text.substr(0, text.find(" (from"))));
    }
  };
  const Result<CommandResult> result = staging.Run("pip install", command);
  if (!result.ok()) return result.error();
  return {};
}

/// Console scripts name the interpreter by full path: after the rename it is another one.
Status RewriteScripts(const fs::path& binaries, const std::string& from, const std::string& to) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(binaries, failure)) {
    std::error_code ignored;
    if (fs::is_symlink(entry.path(), ignored) || !entry.is_regular_file(ignored)) continue;
    Result<std::string> text = ReadFile(entry.path());
    if (!text.ok() || text->find(from) == std::string::npos) continue;
    for (std::size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) {
      text->replace(at, from.size(), to);
    }
    std::ofstream(entry.path(), std::ios::trunc) << *text;  // In place: keeps the mode.
  }
  if (failure) return Error(ErrorCode::kIo, binaries.string() + ": " + failure.message());
  return {};
}

Status MakeVenv(Staging& staging, const fs::path& python, const ProgressLine& progress) {
  progress("making a virtual environment with " + python.string());
  const Result<CommandResult> result =
      staging.Run("making the virtual environment",
                  PythonCommand(python, {"-m", "venv", (staging.folder() / "venv").string()}));
  if (!result.ok()) return result.error();
  return {};
}

Result<std::string> VersionOf(const std::string& program) {
  Command command =
      PythonCommand(program, {"-c",
                              "import sys, venv, ensurepip; sys.stdout.write('%d.%d %s' % "
                              "(sys.version_info[0], sys.version_info[1], sys.executable))"});
  command.limit = kShort;
  DLBENCH_ASSIGN_OR_RETURN(const CommandResult result, RunCommand(command));
  if (!result.ok()) {
    return Error(ErrorCode::kFailed, Printable(LastLines(result.err, 1)));
  }
  return result.out;
}

/// The first of the interpreters that fits and can import venv and ensurepip; "" with why not.
std::string TryPythons(const Manifest& manifest, std::vector<std::string>& seen) {
  for (const std::string& name : manifest.pythons) {
    // Not only the first in PATH: a version manager's shim may hide the distribution's own.
    for (const std::string& folder :
         Split(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "/usr/bin", ':')) {
      const std::string program = folder + "/" + name;
      if (folder.empty() || !FindProgram(program)) continue;
      const Result<std::string> version = VersionOf(program);
      if (!version.ok()) {
        seen.push_back(program + ": " + version.error().message());
        continue;
      }
      const std::vector<std::string> parts = Split(*version, ' ');
      if (parts.size() == 2 && parts[0] == manifest.python_version) return parts[1];
      seen.push_back(program + " is Python " + parts[0]);
    }
  }
  return "";
}

}  // namespace

Result<fs::path> FindPython(const Manifest& manifest) {
  std::vector<std::string> seen;
  const std::string found = TryPythons(manifest, seen);
  if (!found.empty()) return fs::path(found);
  std::string why = seen.empty() ? "there is none in PATH" : Join(seen, "; ");
  return Error(ErrorCode::kUnsupported,
               fmt::format("{} {} needs Python {} with its venv module: {}; run: apt-get install "
                           "python{} python{}-venv",
                           manifest.title, manifest.version, manifest.python_version, why,
                           manifest.python_version, manifest.python_version));
}

Result<ProbeReport> TryFresh(const Manifest& manifest, Installation installation) {
  installation.environment = manifest.environment;
  installation.name = manifest.name;
  DLBENCH_ASSIGN_OR_RETURN(ProbeReport report, Probe(manifest, installation));
  if (report.ok) return report;
  return Error(ErrorCode::kFailed,
               manifest.title + " is installed but does not work: " + StateOf(manifest, report) +
                   (report.warnings.empty() ? "" : "\n" + LastLines(report.warnings, 5)));
}

Result<Installation> InstallVenv(const Places& places, const Manifest& manifest,
                                 const InstallOptions& options, const ProgressLine& progress) {
  for (const std::string& id : InstalledIds(places, manifest.name)) {
    Installation found = LoadInstallation(places, manifest, id);
    const bool wanted = options.only_variant.empty() || found.variant == options.only_variant;
    if (found.kind != "venv" || found.version != manifest.version || !wanted) continue;
    if (!found.broken.empty()) continue;
    progress(id + " is installed already");
    return found;
  }
  DLBENCH_ASSIGN_OR_RETURN(const fs::path base, FindPython(manifest));
  DLBENCH_ASSIGN_OR_RETURN(Staging staging, Staging::Make(places, manifest.name, progress));
  DLBENCH_RETURN_IF_ERROR(MakeVenv(staging, base, progress));
  const fs::path python = staging.folder() / "venv" / "bin" / "python";
  DLBENCH_ASSIGN_OR_RETURN(const Variant variant,
                           ChooseVariant(staging, manifest, python, options));
  DLBENCH_RETURN_IF_ERROR(AgreeOnSize(manifest, variant, options, staging.folder(), progress));
  DLBENCH_RETURN_IF_ERROR(PipInstall(staging, python, manifest.folder / variant.lock, progress));

  progress("trying it: import and one training step");
  Installation fresh;
  fresh.kind = "venv";
  fresh.folder = staging.folder();
  fresh.python = python;
  DLBENCH_ASSIGN_OR_RETURN(const ProbeReport report, TryFresh(manifest, fresh));
  staging.Log("probe: " + report.version + "\n" + report.warnings);

  const std::string id = manifest.name + "@" + manifest.version + "+" + variant.name;
  DLBENCH_RETURN_IF_ERROR(RewriteScripts(staging.folder() / "venv" / "bin",
                                         staging.folder().string(),
                                         (EnvironmentsFolder(places) / id).string()));
  InstallationRecord record{
      manifest.name,  manifest.version, variant.name, "venv", "venv/bin/python", "", "",
      report.packages};
  record.details["framework"] = report.version;
  record.details["lock"] = variant.lock;
  record.details["base_python"] = base.string();
  record.details["import_warnings"] = report.warnings;
  record.details.erase("executable");
  DLBENCH_RETURN_IF_ERROR(WriteRecord(staging.folder(), record));
  DLBENCH_RETURN_IF_ERROR(staging.Publish(id));
  Installation installation = LoadInstallation(places, manifest, id);
  progress(id + " is ready: " + SizeText(DiskBytes(installation.folder)) + " in " +
           installation.folder.string());
  return installation;
}

}  // namespace dlbench::frameworks
