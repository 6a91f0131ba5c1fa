#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"

namespace dlbench::data {

/// Whether the bytes begin as gzip does (1F 8B, RFC 1952 section 2.3.1).
bool LooksLikeGzip(std::span<const std::byte> bytes);

/// Bytes read once from the front: plain, or decompressed on the way. Never holds more decompressed
/// bytes than were asked for, so a small hostile file cannot fill the memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Appends up to `limit` further bytes to `out`; fewer only where the data end. kInput where the
  /// compressed data are damaged or cut short.
  virtual Status Read(std::size_t limit, std::string& out) = 0;
};

/// Reads `file` (which must outlive the source), decompressing it if it looks like gzip.
std::unique_ptr<ByteSource> OpenBytes(std::span<const std::byte> file);

}  // namespace dlbench::data
