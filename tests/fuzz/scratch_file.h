#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace dlbench::fuzz {

/// A folder of this process in memory, for parsers that take a file; removed at exit.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = "/dev/shm/dlbench-fuzz-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// `name` in the folder, holding exactly these bytes.
  std::filesystem::path Write(const char* name, const std::uint8_t* data, std::size_t size) const {
    const std::filesystem::path file = path_ / name;
    std::FILE* out = std::fopen(file.c_str(), "wb");
    if (out == nullptr || std::fwrite(data, 1, size, out) != size) std::abort();
    std::fclose(out);
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace dlbench::fuzz
