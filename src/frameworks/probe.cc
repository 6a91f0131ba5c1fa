#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/file.h"
#include "core/text.h"
#include "frameworks/command.h"
#include "frameworks/frameworks.h"

namespace dlbench::frameworks {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kProbeLimit{300};  // A first import from a cold disk takes 10 s.
constexpr const char* kMarker = "DLBENCH_PROBE ";

/// Runs on Python 2.7 and 3. A framework may print what it likes: our line has a marker.
constexpr const char* kDriver = R"py(
import json, sys
recipe = json.loads(sys.argv[1])
report = {"ok": False, "version": "", "failure": "", "packages": {}, "python": sys.version.split()[0],
          "executable": sys.executable}
def find_version(name):
    try:
        from importlib import metadata
        return metadata.version(name)
    except ImportError:
        import pkg_resources
        return pkg_resources.get_distribution(name).version
stage = "import"
try:
    module = __import__(recipe["module"])
    report["version"] = str(getattr(module, "__version__", ""))
    stage = "the first step"
    exec(recipe["smoke"], {})
    report["ok"] = True
except BaseException as error:
    report["failure"] = "%s fails: %s: %s" % (stage, type(error).__name__, error)
for name in recipe["packages"]:
    try:
        report["packages"][name] = find_version(name)
    except Exception:
        pass
sys.stdout.write("\nDLBENCH_PROBE " + json.dumps(report) + "\n")
sys.stdout.flush()
)py";

/// The JSON behind the last marker in `out`, or nothing.
std::optional<Json> FindReport(const std::string& out) {
  const std::size_t at = out.rfind(kMarker);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(out).substr(at + std::string_view(kMarker).size());
  Json json = Json::parse(rest.substr(0, rest.find('\n')), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

ProbeReport ToReport(const CommandResult& result) {
  ProbeReport report;
  report.warnings = Printable(result.err.substr(0, 4096));
  const std::optional<Json> json = FindReport(result.out);
  if (!json) {
    report.failure = "import fails: " + result.HowItEnded() + ": " +
                     Printable(LastLines(result.err + result.out, 1));
    return report;
  }
  try {
    report.ok = json->at("ok").get<bool>() && result.ok();
    report.version = json->value("version", "");
    report.failure = json->value("failure", "");
    report.packages = json->value("packages", std::map<std::string, std::string>());
    for (const char* key : {"python", "executable"}) {
      if (json->contains(key)) report.packages[key] = json->at(key).get<std::string>();
    }
  } catch (const Json::exception& error) {
    report.ok = false;
    report.failure = std::string("the trial's answer is not understood: ") + error.what();
  }
  if (!report.ok && report.failure.empty())
    report.failure = "the trial ends: " + result.HowItEnded();
  return report;
}

}  // namespace

Result<ProbeReport> Probe(const Manifest& manifest, const Installation& installation) {
  if (!installation.broken.empty()) return ProbeReport{false, "", installation.broken, "", {}};
  if (installation.kind == "builtin") return ProbeReport{true, installation.version, "", "", {}};
  Command command;
  command.limit = kProbeLimit;
  command.environment = LaunchEnvironment(installation, "", 1, CacheHome());
  command.environment["PYTHONNOUSERSITE"] = "1";
  command.unset = {"PYTHONPATH", "PYTHONHOME", "LD_PRELOAD"};
  if (installation.python.empty()) {
    command.argv = installation.argv;
    command.argv.push_back("--probe");
  } else {
    const Json recipe = {{"module", manifest.probe.module},
                         {"smoke", manifest.probe.smoke},
                         {"packages", manifest.probe.packages}};
    command.argv = {installation.python.string(), "-c", kDriver, recipe.dump()};
  }
  DLBENCH_ASSIGN_OR_RETURN(const CommandResult result, RunCommand(command));
  return ToReport(result);
}

std::string StateOf(const Manifest& manifest, const ProbeReport& report) {
  if (report.ok) return "ready";
  std::vector<std::string> versions;
  for (const std::string& name : manifest.probe.packages) {
    const auto found = report.packages.find(name);
    versions.push_back(name + " " + (found != report.packages.end() ? found->second : "absent"));
  }
  if (!manifest.probe.known_good.empty()) {
    versions.push_back("known good: " + manifest.probe.known_good);
  }
  const std::string tail = versions.empty() ? "" : " (" + Join(versions, ", ") + ")";
  return "present, " + report.failure + tail;
}

}  // namespace dlbench::frameworks
