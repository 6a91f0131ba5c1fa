#include <algorithm>

#include "core/text.h"
#include "frameworks/frameworks.h"
#include "frameworks/install.h"
#include "frameworks/record.h"
#include "frameworks/staging.h"

namespace dlbench::frameworks {
namespace {

namespace fs = std::filesystem;

Installation LoadBuiltin(const Places& places, const Manifest& manifest) {
  Installation installation;
  const fs::path program = places.binaries / ("dlbench-adapter-" + manifest.name);
  installation.id = manifest.name;
  installation.name = manifest.name;
  installation.version = manifest.version;
  installation.kind = "builtin";
  installation.argv = {program.string()};
  installation.environment = manifest.environment;
  installation.preset_environment = manifest.preset_environment;
  installation.title = std::string(Trim(manifest.title + " " + manifest.version));
  std::error_code ignored;
  if (!fs::exists(program, ignored)) {
    installation.broken = "'" + program.string() + "' is not there; build dlbench again";
  }
  return installation;
}

std::vector<Installation> LoadAll(const Places& places, const Manifest& manifest) {
  if (manifest.kind == "builtin") return {LoadBuiltin(places, manifest)};
  std::vector<Installation> all;
  for (const std::string& id : InstalledIds(places, manifest.name)) {
    all.push_back(LoadInstallation(places, manifest, id));
  }
  // The pinned version first, existing ones last: the first is what the bare name means.
  std::stable_sort(all.begin(), all.end(), [&](const Installation& a, const Installation& b) {
    const auto rank = [&](const Installation& i) {
      return std::pair(i.kind == "existing", i.version != manifest.version);
    };
    return rank(a) < rank(b);
  });
  return all;
}

std::string SummarizeState(const std::vector<Installation>& installed) {
  if (installed.empty()) return "not installed";
  for (const Installation& installation : installed) {
    if (installation.broken.empty()) return "ready";
  }
  return "broken: " + installed.front().broken;
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// True if `wanted` ("2.13", "2.13.0", "2.13.0+cpu", "mine") names this one.
bool Matches(const Installation& installation, const std::string& wanted) {
  const std::string version = installation.id.substr(installation.id.find('@') + 1);
  if (version == wanted) return true;
  const bool begins = version.rfind(wanted, 0) == 0;
  return begins && (version[wanted.size()] == '+' || version[wanted.size()] == '.');
}

Error NotInstalled(const Manifest& manifest, const std::string& wanted,
                   const std::vector<Installation>& installed) {
  std::vector<std::string> ids;
  for (const Installation& installation : installed) ids.push_back(installation.id);
  if (ids.empty()) {
    return Error(
        ErrorCode::kUnsupported,
        manifest.title + " is not installed; run: dlbench frameworks install " + manifest.name);
  }
  return Error(ErrorCode::kUnsupported, "'" + manifest.name + "@" + wanted +
                                            "' is not installed; there is: " + Join(ids, ", "));
}

std::pair<std::string, std::string> SplitId(const std::string& text) {
  const std::size_t at = text.find('@');
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

/// Environments of any framework that were built against `id`.
std::vector<std::string> UsersOf(const Places& places, const std::string& id) {
  std::vector<std::string> users;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(EnvironmentsFolder(places), failure)) {
    const Result<InstallationRecord> record = ReadRecord(entry.path());
    if (record.ok() && record->uses == id) users.push_back(entry.path().filename().string());
  }
  std::sort(users.begin(), users.end());
  return users;
}

Status CheckLabel(const std::string& label) {
  const bool fine = !label.empty() && label.size() <= 40 && label.front() != '.' &&
                    std::all_of(label.begin(), label.end(), [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                    });
  if (fine) return {};
  return Error(ErrorCode::kUsage, "the label '" + Printable(label) +
                                      "' may hold letters, digits, '-', '_' and '.' only, at most "
                                      "40, no '.' first");
}

}  // namespace

std::map<std::string, std::string> LaunchEnvironment(const Installation& installation,
                                                     const std::string& preset, int threads,
                                                     const fs::path& cache) {
  std::map<std::string, std::string> variables = installation.environment;
  const auto more = installation.preset_environment.find(preset);
  if (more != installation.preset_environment.end()) {
    for (const auto& [name, value] : more->second) variables[name] = value;
  }
  for (auto it = variables.begin(); it != variables.end();) {
    ReplaceAll(it->second, "{threads}", std::to_string(threads));
    ReplaceAll(it->second, "{cache}", (cache / "frameworks" / installation.id).string());
    ReplaceAll(it->second, "{folder}", installation.folder.string());
    it = it->second == "{unset}" ? variables.erase(it) : std::next(it);
  }
  return variables;
}

Result<std::vector<Listed>> List(const Places& places) {
  DLBENCH_ASSIGN_OR_RETURN(const std::vector<Manifest> manifests, LoadManifests(places));
  std::vector<Listed> rows;
  for (const Manifest& manifest : manifests) {
    std::vector<Installation> installed = LoadAll(places, manifest);
    const std::string state = SummarizeState(installed);
    rows.push_back({manifest, std::move(installed), state});
  }
  return rows;
}

Result<Installation> Find(const Places& places, const std::string& name) {
  const auto [base, wanted] = SplitId(name);
  DLBENCH_ASSIGN_OR_RETURN(const Manifest manifest, FindManifest(places, base));
  const std::vector<Installation> installed = LoadAll(places, manifest);
  const Installation* found = nullptr;
  for (const Installation& installation : installed) {
    if (!wanted.empty() && !Matches(installation, wanted)) continue;
    if (found == nullptr || (!found->broken.empty() && installation.broken.empty())) {
      found = &installation;
    }
  }
  if (found == nullptr) return NotInstalled(manifest, wanted, installed);
  if (!found->broken.empty()) {
    const std::string remedy =
        found->kind == "builtin" ? "" : "; run: dlbench frameworks install " + manifest.name;
    return Error(ErrorCode::kUnsupported,
                 found->id + " cannot be started: " + found->broken + remedy);
  }
  return *found;
}

Result<Installation> Install(const Places& places, const std::string& name,
                             const InstallOptions& options, const ProgressLine& progress) {
  DLBENCH_ASSIGN_OR_RETURN(const Manifest manifest, FindManifest(places, name));
  if (manifest.kind == "builtin") {
    progress(manifest.title + " is built in: there is nothing to install");
    return Find(places, name);
  }
  if (manifest.kind != "venv" && manifest.kind != "source") {
    return Error(ErrorCode::kUnsupported,
                 manifest.title + ": installing kind '" + manifest.kind + "' is not built yet");
  }
  std::optional<BuildBase> base;
  if (manifest.kind == "source") {
    // One that is installed already is returned at once; else what it is built against comes first.
    DLBENCH_ASSIGN_OR_RETURN(const Installation shared,
                             Install(places, manifest.shares, options, progress));
    base = BuildBase{shared.python, shared.id, ""};
  }
  DLBENCH_ASSIGN_OR_RETURN(const InstallLock lock, InstallLock::Take(places, name));
  if (base) return InstallSource(places, manifest, *base, progress);
  return InstallVenv(places, manifest, options, progress);
}

Result<std::uint64_t> Remove(const Places& places, const std::string& name) {
  const auto [base, wanted] = SplitId(name);
  DLBENCH_ASSIGN_OR_RETURN(const Manifest manifest, FindManifest(places, base));
  if (manifest.kind == "builtin") {
    return Error(ErrorCode::kUsage, manifest.title + " is built in and cannot be removed");
  }
  DLBENCH_ASSIGN_OR_RETURN(const InstallLock lock, InstallLock::Take(places, base));
  std::vector<fs::path> doomed;
  const std::vector<Installation> installed = LoadAll(places, manifest);
  for (const Installation& installation : installed) {
    if (!wanted.empty() && !Matches(installation, wanted)) continue;
    const std::vector<std::string> users = UsersOf(places, installation.id);
    if (!users.empty()) {
      return Error(ErrorCode::kUsage, Join(users, ", ") + " uses " + installation.id +
                                          "; remove that first: dlbench frameworks remove " +
                                          users.front());
    }
    doomed.push_back(installation.folder);
  }
  if (doomed.empty() && !wanted.empty()) return NotInstalled(manifest, wanted, installed);
  doomed.push_back(EnvironmentsFolder(places) / (".partial-" + base));
  std::uint64_t freed = 0;
  for (const fs::path& folder : doomed) {
    freed += DiskBytes(folder);
    std::error_code failure;
    fs::remove(folder / "installation.json", failure);  // First: half a folder is none.
    fs::remove_all(folder, failure);
    if (failure) {
      return Error(ErrorCode::kIo, "cannot remove '" + folder.string() + "': " + failure.message());
    }
  }
  return freed;
}

Result<Installation> AddExisting(const Places& places, const std::string& name,
                                 const fs::path& python, const std::string& label) {
  const std::string variant = label.empty() ? "mine" : label;
  DLBENCH_RETURN_IF_ERROR(CheckLabel(variant));
  DLBENCH_ASSIGN_OR_RETURN(const Manifest manifest, FindManifest(places, name));
  if (manifest.probe.module.empty() && manifest.kind != "source") {
    return Error(ErrorCode::kUnsupported, manifest.title + " is not had from a Python");
  }
  const std::optional<std::string> program = FindProgram(python.string());
  if (!program) {
    return Error(ErrorCode::kInput, "there is no program '" + python.string() +
                                        "'; --python wants a Python interpreter's path");
  }
  DLBENCH_ASSIGN_OR_RETURN(const InstallLock lock, InstallLock::Take(places, name));
  const ProgressLine silent = [](const std::string&) {};
  const fs::path absolute = fs::absolute(*program).lexically_normal();
  if (manifest.kind == "source") {
    return InstallSource(places, manifest, BuildBase{absolute, "", variant}, silent);
  }
  Installation fresh;
  fresh.kind = "existing";
  fresh.python = absolute;
  fresh.folder = EnvironmentsFolder(places);
  fresh.environment = manifest.environment;
  DLBENCH_ASSIGN_OR_RETURN(const ProbeReport report, Probe(manifest, fresh));
  if (!report.ok) {
    return Error(ErrorCode::kFailed,
                 manifest.title + " in '" + absolute.string() + "': " +
                     StateOf(manifest, report).substr(std::string_view("present, ").size()));
  }
  DLBENCH_ASSIGN_OR_RETURN(Staging staging, Staging::Make(places, name, silent));
  InstallationRecord record{name, report.version, variant, "existing", absolute.string(), "",
                            "",   report.packages};
  record.version = report.version.substr(0, report.version.find('+'));
  record.details["framework"] = report.version;
  record.details["import_warnings"] = report.warnings;
  const std::string id = name + "@" + variant;
  DLBENCH_RETURN_IF_ERROR(WriteRecord(staging.folder(), record));
  DLBENCH_RETURN_IF_ERROR(staging.Publish(id));
  return LoadInstallation(places, manifest, id);
}

}  // namespace dlbench::frameworks
