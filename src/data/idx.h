#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/result.h"
#include "network/network.h"

namespace dlbench::data {

/// What an IDX file should hold: unsigned bytes in three dimensions (magic number 2051) or in one
/// (2049).
enum class IdxKind { kImages, kLabels };

/// The content of an IDX file (format: LeCun, Cortes, Burges, "The MNIST database", file formats).
struct IdxContent {
  network::Shape shape;  ///< {count, rows, columns} or {count}.
  std::string bytes;     ///< One unsigned byte an element, row-major.
};

/// Reads the bytes of a whole IDX file, plain or gzip (told by content). kInput says what is wrong:
/// "byte order swapped", "labels file", "cut short", "trailing bytes" ...
Result<IdxContent> ParseIdx(std::span<const std::byte> file, IdxKind kind);
/// The same for a file; errors name it.
Result<IdxContent> ReadIdx(const std::filesystem::path& path, IdxKind kind);

}  // namespace dlbench::data
