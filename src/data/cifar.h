#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "core/result.h"
#include "data/dataset.h"

namespace dlbench::data {

/// The content of one file of CIFAR-10's binary version.
struct CifarContent {
  std::int64_t records = 0;
  std::string labels;  ///< One byte a record, 0 to 9.
  std::string pixels;  ///< records x [3, 32, 32]: the red plane, the green one, the blue one.
};

/// Reads records of 3073 bytes, one label and 3072 pixels (Krizhevsky, "The CIFAR-10 dataset",
/// binary version), plain or gzip. kInput says what is wrong: Python's version, a size that is no
/// multiple of a record, a label above 9 with its record ...
Result<CifarContent> ParseCifar10(std::span<const std::byte> file);
/// All training files (data_batch_1.bin to data_batch_5.bin, each plain or with .gz) of `folder`,
/// or of cifar-10-batches-bin in it, as the archive unpacks. Errors name the file.
Result<Dataset> LoadCifar10Folder(const std::filesystem::path& folder);

}  // namespace dlbench::data
