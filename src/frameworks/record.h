#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "frameworks/frameworks.h"

namespace dlbench::frameworks {

/// installation.json: written last into an environment, so that its presence says "whole".
struct InstallationRecord {
  std::string name;
  std::string version;
  std::string variant;
  std::string kind;        ///< The manifest's kind, or "existing".
  std::string python;      ///< Its interpreter: relative to the folder for venv, else absolute.
  std::string uses;        ///< Id of the environment it is linked against; empty if none.
  std::string source_crc;  ///< Of the sources a C++ adapter was built from; empty if none.
  std::map<std::string, std::string> details;
};

/// data_home/environments.
std::filesystem::path EnvironmentsFolder(const Places& places);
/// Writes installation.json into `folder`, atomically.
Status WriteRecord(const std::filesystem::path& folder, const InstallationRecord& record);
/// Reads it; an error names the file and says how to get rid of the environment.
Result<InstallationRecord> ReadRecord(const std::filesystem::path& folder);
/// All environments of `name` by id: those with an installation.json, others are half-made.
std::vector<std::string> InstalledIds(const Places& places, const std::string& name);

/// The installation as `manifest` and the record in the folder `id` describe it; what keeps it
/// from being started is in `broken`.
Installation LoadInstallation(const Places& places, const Manifest& manifest,
                              const std::string& id);

/// CRC-32, as hexadecimal digits, over what a C++ adapter is built from: its source and the SDK.
Result<std::string> SourceCrc(const Places& places, const Manifest& manifest);

/// The manifest of `name`, or kNotFound with the nearest known name.
Result<Manifest> FindManifest(const Places& places, const std::string& name);

}  // namespace dlbench::frameworks
