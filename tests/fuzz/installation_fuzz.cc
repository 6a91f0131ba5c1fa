#include <cstdint>
#include <cstdlib>
#include <string>

#include "frameworks/record.h"
#include "scratch_file.h"

/// Any text is refused with its file's name, or gives a record that survives being written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dlbench::frameworks;
  static const dlbench::fuzz::ScratchFolder folder;
  folder.Write("installation.json", data, size);
  const auto record = ReadRecord(folder.path());
  if (!record.ok()) {
    if (record.error().message().find("installation.json") == std::string::npos) std::abort();
    return 0;
  }
  if (!WriteRecord(folder.path(), *record).ok()) std::abort();
  const auto again = ReadRecord(folder.path());
  if (!again.ok() || again->details != record->details || again->name != record->name) std::abort();
  return 0;
}
