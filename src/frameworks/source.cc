#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "frameworks/install.h"
#include "frameworks/staging.h"

namespace dlbench::frameworks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// What the manifest's query says about the package: how to compile and link against it.
struct BuildFacts {
  std::string version;
  std::vector<std::string> flags;
  std::vector<std::string> libraries;
};

Result<BuildFacts> AskPackage(Staging& staging, const Manifest& manifest, const fs::path& python) {
  Command command;
  command.argv = {python.string(), "-c", manifest.build.query};
  command.environment = {{"PYTHONNOUSERSITE", "1"}};
  command.unset = {"PYTHONPATH", "PYTHONHOME", "LD_PRELOAD"};
  DLBENCH_ASSIGN_OR_RETURN(
      const CommandResult result,
      staging.Run("asking " + manifest.shares + " where its headers and libraries are", command));
  try {
    const Json json = Json::parse(LastLines(result.out, 1));
    return BuildFacts{json.at("version").get<std::string>(),
                      json.at("flags").get<std::vector<std::string>>(),
                      json.at("libraries").get<std::vector<std::string>>()};
  } catch (const Json::exception& error) {
    return Error(ErrorCode::kFailed,
                 (manifest.folder / "manifest.toml").string() +
                     ": [build] query: its answer is not understood: " + error.what());
  }
}

/// CXX where it is set, else g++, c++ or clang++.
Result<std::string> FindCompiler(const Manifest& manifest) {
  const char* asked = std::getenv("CXX");
  if (asked != nullptr && *asked != '\0') {
    if (FindProgram(asked)) return std::string(asked);
    return Error(ErrorCode::kInput, std::string("CXX names '") + asked + "', which is no program");
  }
  for (const char* name : {"g++", "c++", "clang++"}) {
    if (FindProgram(name)) return std::string(name);
  }
  return Error(ErrorCode::kUnsupported, manifest.title +
                                            "'s adapter is built with a C++ compiler, and there is "
                                            "none in PATH; run: apt-get install g++");
}

std::string CompilerVersion(const std::string& compiler) {
  Command command;
  command.argv = {compiler, "--version"};
  const Result<CommandResult> result = RunCommand(command);
  if (!result.ok()) return compiler;
  return Split(result->out, '\n').front();
}

/// "2.13.0+cpu" as version and variant.
std::pair<std::string, std::string> SplitVersion(const std::string& text) {
  const std::size_t plus = text.find('+');
  if (plus == std::string::npos) return {text, "cpu"};
  return {text.substr(0, plus), text.substr(plus + 1)};
}

Status Compile(Staging& staging, const Places& places, const Manifest& manifest,
               const BuildFacts& facts, const std::string& compiler, const fs::path& program) {
  Command command;
  command.argv = {compiler};
  const auto append = [&command](const std::vector<std::string>& more) {
    command.argv.insert(command.argv.end(), more.begin(), more.end());
  };
  append(manifest.build.flags);
  append({"-I" + (places.adapters / "sdk").string()});
  append(facts.flags);
  append({(manifest.folder / manifest.adapter).string(), "-o", program.string()});
  append(facts.libraries);
  const Result<CommandResult> result = staging.Run("compiling " + manifest.adapter, command);
  if (!result.ok()) return result.error();
  return {};
}

}  // namespace

Result<Installation> InstallSource(const Places& places, const Manifest& manifest,
                                   const BuildBase& base, const ProgressLine& progress) {
  DLBENCH_ASSIGN_OR_RETURN(const std::string compiler, FindCompiler(manifest));
  DLBENCH_ASSIGN_OR_RETURN(Staging staging, Staging::Make(places, manifest.name, progress));
  DLBENCH_ASSIGN_OR_RETURN(const BuildFacts facts, AskPackage(staging, manifest, base.python));
  const auto [version, local] = SplitVersion(facts.version);
  const std::string variant = base.label.empty() ? local : base.label;
  const std::string id =
      manifest.name + "@" + (base.label.empty() ? version + "+" + variant : base.label);
  const Installation installed = LoadInstallation(places, manifest, id);
  if (installed.broken.empty() && installed.version == version) {
    progress(id + " is installed already");
    return installed;
  }

  const std::string compiler_version = CompilerVersion(compiler);
  progress(fmt::format("building {} with {} (about a minute)", id, compiler_version));
  std::error_code failure;
  fs::create_directories(staging.folder() / "bin", failure);
  const fs::path program = staging.folder() / "bin" / ("dlbench-adapter-" + manifest.name);
  DLBENCH_RETURN_IF_ERROR(Compile(staging, places, manifest, facts, compiler, program));

  progress("trying it: one training step");
  Installation fresh;
  fresh.kind = "source";
  fresh.folder = staging.folder();
  fresh.argv = {program.string()};
  DLBENCH_ASSIGN_OR_RETURN(const ProbeReport report, TryFresh(manifest, fresh));

  InstallationRecord record{
      manifest.name,        version,   variant, base.label.empty() ? "source" : "existing",
      base.python.string(), base.uses, "",      report.packages};
  DLBENCH_ASSIGN_OR_RETURN(record.source_crc, SourceCrc(places, manifest));
  record.details["framework"] = facts.version;
  record.details["compiler"] = compiler_version;
  record.details["flags"] = Join(manifest.build.flags, " ");
  DLBENCH_RETURN_IF_ERROR(WriteRecord(staging.folder(), record));
  DLBENCH_RETURN_IF_ERROR(staging.Publish(id));
  progress(id + " is ready");
  return LoadInstallation(places, manifest, id);
}

}  // namespace dlbench::frameworks
