#include <cstdint>
#include <cstdlib>
#include <string>

#include "frameworks/frameworks.h"
#include "scratch_file.h"

/// Any text is refused with its file's name, or gives a manifest whose name and presets are there.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const dlbench::fuzz::ScratchFolder folder;
  const auto file = folder.Write("manifest.toml", data, size);
  const auto manifest = dlbench::frameworks::LoadManifest(file);
  if (!manifest.ok()) {
    if (manifest.error().message().find("manifest.toml") == std::string::npos) std::abort();
    return 0;
  }
  if (manifest->name.empty() || manifest->presets.empty()) std::abort();
  return 0;
}
