#include "frameworks/record.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "core/text.h"

namespace dlbench::frameworks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kRecordFile = "installation.json";

std::string Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? "" : "'" + path.string() + "' is gone";
}

/// Why an adapter built from source no longer fits; empty if it does.
std::string SourceTrouble(const Places& places, const Manifest& manifest,
                          const InstallationRecord& record) {
  std::error_code ignored;
  if (!record.uses.empty() &&
      !fs::exists(EnvironmentsFolder(places) / record.uses / kRecordFile, ignored)) {
    return "it needs " + record.uses + ", which is not installed any more";
  }
  const Result<std::string> crc = SourceCrc(places, manifest);
  if (!crc.ok()) return crc.error().message();
  if (*crc != record.source_crc) return "its adapter's source has changed since it was built";
  return "";
}

}  // namespace

fs::path EnvironmentsFolder(const Places& places) { return places.data_home / "environments"; }

Status WriteRecord(const fs::path& folder, const InstallationRecord& record) {
  const Json json = {{"format", 1},
                     {"name", record.name},
                     {"version", record.version},
                     {"variant", record.variant},
                     {"kind", record.kind},
                     {"python", record.python},
                     {"uses", record.uses},
                     {"source_crc", record.source_crc},
                     {"details", record.details}};
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return WriteFileAtomically(folder / kRecordFile, text);
}

Result<InstallationRecord> ReadRecord(const fs::path& folder) {
  const fs::path file = folder / kRecordFile;
  DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, 1U << 20));
  try {
    const Json json = Json::parse(text);
    InstallationRecord record;
    record.name = json.at("name").get<std::string>();
    record.version = json.at("version").get<std::string>();
    record.variant = json.at("variant").get<std::string>();
    record.kind = json.at("kind").get<std::string>();
    record.python = json.at("python").get<std::string>();
    record.uses = json.value("uses", "");
    record.source_crc = json.value("source_crc", "");
    record.details = json.value("details", std::map<std::string, std::string>());
    return record;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::kInput, "'" + file.string() + "' is damaged (" + error.what() +
                                        "); run: dlbench frameworks remove " +
                                        folder.filename().string());
  }
}

std::vector<std::string> InstalledIds(const Places& places, const std::string& name) {
  std::vector<std::string> ids;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(EnvironmentsFolder(places), failure)) {
    const std::string id = entry.path().filename().string();
    std::error_code ignored;
    if (id.rfind(name + "@", 0) == 0 && fs::exists(entry.path() / kRecordFile, ignored)) {
      ids.push_back(id);
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Installation LoadInstallation(const Places& places, const Manifest& manifest,
                              const std::string& id) {
  Installation installation;
  installation.id = id;
  installation.name = manifest.name;
  installation.folder = EnvironmentsFolder(places) / id;
  installation.environment = manifest.environment;
  installation.preset_environment = manifest.preset_environment;
  installation.title = manifest.title;
  const Result<InstallationRecord> record = ReadRecord(installation.folder);
  if (!record.ok()) {
    installation.broken = record.error().message();
    return installation;
  }
  installation.version = record->version;
  installation.variant = record->variant;
  installation.kind = record->kind;
  installation.title = manifest.title + " " + record->version;
  installation.details = record->details;
  if (manifest.kind == "source") {
    const fs::path program = installation.folder / "bin" / ("dlbench-adapter-" + manifest.name);
    installation.argv = {program.string()};
    installation.broken = Exists(program);
    if (installation.broken.empty()) {
      installation.broken = SourceTrouble(places, manifest, *record);
    }
    return installation;
  }
  installation.python = installation.folder / record->python;  // Absolute wins.
  installation.argv = {installation.python.string(), (manifest.folder / manifest.adapter).string()};
  installation.broken = Exists(installation.python);
  return installation;
}

namespace {

/// The C++ files beside a manifest, in a fixed order: the adapter and what it includes.
std::vector<fs::path> SourcesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".cc" || extension == ".h") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<std::string> SourceCrc(const Places& places, const Manifest& manifest) {
  uLong crc = ::crc32(0, nullptr, 0);
  std::vector<fs::path> files = SourcesIn(manifest.folder);
  files.push_back(manifest.folder / "manifest.toml");
  files.push_back(places.adapters / "sdk" / "dlbench_adapter.h");
  for (const fs::path& file : files) {
    DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    for (const char c : text) {
      const auto byte = static_cast<Bytef>(c);
      crc = ::crc32(crc, &byte, 1);
    }
  }
  return fmt::format("{:08x}", crc);
}

Result<Manifest> FindManifest(const Places& places, const std::string& name) {
  DLBENCH_ASSIGN_OR_RETURN(std::vector<Manifest> manifests, LoadManifests(places));
  std::vector<std::string> names;
  for (Manifest& manifest : manifests) {
    if (manifest.name == name) return std::move(manifest);
    names.push_back(manifest.name);
  }
  return Error(ErrorCode::kNotFound,
               "there is no framework '" + name + "'" + SuggestionFor(name, names));
}

}  // namespace dlbench::frameworks
