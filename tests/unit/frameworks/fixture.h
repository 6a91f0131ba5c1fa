#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "frameworks/frameworks.h"

namespace dlbench::frameworks {

/// A folder with a fake framework "fake": a manifest, an adapter, a lock, and in PATH a python3.11
/// that is a shell script. `venv` in it makes a "python" which behaves as the files say:
/// FAKE/pip_fails, FAKE/pip_waits, FAKE/versions, FAKE/probe.
class FrameworksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "dlbench-fw-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    places_ = {root_ / "adapters", root_ / "bin", root_ / "data"};
    std::filesystem::create_directories(root_ / "path");
    std::filesystem::create_directories(places_.adapters / "sdk");
    std::filesystem::create_directories(fake());
    Write(places_.adapters / "sdk" / "dlbench_adapter.h", "// sdk\n");
    Write(adapter_folder() / "adapter.py", "# adapter\n");
    Write(adapter_folder() / "lock-cpu.txt", "thing==1.0+cpu\n");
    Write(adapter_folder() / "lock-big.txt", "thing==1.0\n");
    Write(adapter_folder() / "manifest.toml", Manifest());
    Write(fake() / "versions", "Available versions: 1.1, 1.0+cpu, 1.0\n");
    Write(fake() / "probe", R"(DLBENCH_PROBE {"ok": true, "version": "1.0+cpu", "failure": "",)"
                            R"( "packages": {"numpy": "2.0"}, "python": "3.11.9"})");
    WriteProgram(root_ / "path" / "python3.11", BasePython());
    WriteVenvPython();
    const char* path = std::getenv("PATH");
    saved_path_ = path != nullptr ? path : "";
    ::setenv("PATH", ((root_ / "path").string() + ":/usr/bin:/bin").c_str(), 1);
    ::setenv("FAKE", fake().c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", saved_path_.c_str(), 1);
    ::unsetenv("FAKE");
    std::filesystem::remove_all(root_);
  }

  std::filesystem::path adapter_folder() const { return places_.adapters / "fake"; }
  std::filesystem::path fake() const { return root_ / "fake"; }
  std::filesystem::path environments() const { return places_.data_home / "environments"; }

  static std::string Manifest() {
    return R"(name = "fake"
title = "Fake"
kind = "venv"
language = "python"
adapter = "adapter.py"
version = "1.0"
python = ["python3.11"]
python_version = "3.11"
[[variant]]
name = "cpu"
lock = "lock-cpu.txt"
needs = "thing==1.0+cpu"
download_mb = 1
disk_mb = 2
[[variant]]
name = "big"
lock = "lock-big.txt"
needs = "thing==1.0"
download_mb = 3000
disk_mb = 5
ask = true
[environment]
OMP_NUM_THREADS = "{threads}"
CACHE = "{cache}/x"
[probe]
module = "thing"
packages = ["thing", "numpy"]
known_good = "numpy 1.23"
smoke = "pass"
[preset.default]
what = "as it comes"
source = "its tutorial"
[preset.recommended]
what = "tuned"
source = "its guide"
[preset.recommended.environment]
TUNED = "yes"
OMP_NUM_THREADS = "{unset}"
)";
  }

  /// `python3.11 -c ...` says its version; `python3.11 -m venv FOLDER` makes FOLDER/bin/python.
  static std::string BasePython() {
    return "#!/bin/sh\n"
           "case \"$1 $2\" in\n"
           "'-m venv') mkdir -p \"$3/bin\"; cp \"$FAKE/python\" \"$3/bin/python\";\n"
           "  echo \"#!$3/bin/python\" > \"$3/bin/tool\" ;;\n"
           "*) printf '3.11 %s' \"$0\" ;;\n"
           "esac\n";
  }
  /// The virtual environment's python: pip index, pip install, and -c for the trial.
  void WriteVenvPython() const {
    WriteProgram(
        fake() / "python",
        "#!/bin/sh\n"
        "echo \"$@\" >> \"$FAKE/calls\"\n"
        "case \"$1 $2 $3\" in\n"
        "'-m pip index') cat \"$FAKE/versions\" ;;\n"
        "'-m pip install') echo 'Collecting thing'; echo 'Downloading thing.whl'\n"
        "  if [ -e \"$FAKE/pip_waits\" ]; then echo $$ > \"$FAKE/started\"; read x < "
        "\"$FAKE/gate\"; fi\n"
        "  if [ -e \"$FAKE/pip_fails\" ]; then echo 'ERROR: hashes differ' >&2; exit 1; fi\n"
        "  echo 'Successfully installed thing' ;;\n"
        "*) cat \"$FAKE/probe\" ;;\n"
        "esac\n");
  }

  static void Write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  static void WriteProgram(const std::filesystem::path& path, const std::string& text) {
    Write(path, text);
    ::chmod(path.c_str(), 0755);
  }
  static std::string Read(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  Result<Installation> InstallFake(const InstallOptions& options = {}) {
    lines_.clear();
    return Install(places_, "fake", options,
                   [this](const std::string& line) { lines_.push_back(line); });
  }
  /// Names in the environments' folder, lock files left out.
  std::vector<std::string> EnvironmentNames() const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(environments(), ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind(".lock-", 0) != 0) names.push_back(name);
    }
    return names;
  }

  std::filesystem::path root_;
  Places places_;
  std::string saved_path_;
  std::vector<std::string> lines_;
};

}  // namespace dlbench::frameworks
