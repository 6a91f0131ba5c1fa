#include "data/cifar.h"

#include <array>

#include "core/file.h"
#include "data/byte_source.h"
#include "data/sha256.h"

namespace dlbench::data {
namespace {

constexpr std::size_t kPixels = 3 * 32 * 32;
constexpr std::size_t kRecord = 1 + kPixels;
constexpr std::size_t kCifar100Record = 2 + kPixels;  // a coarse and a fine label
constexpr std::int64_t kClasses = 10;
constexpr int kFiles = 5;
// A training file holds 10,000 records (31 MB); user-made ones may be larger.
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

Error Bad(const std::string& what) { return Error(ErrorCode::kInput, what); }

Status CheckSize(const std::string& bytes) {
  if (bytes.empty()) return Bad("no data in it");
  if (bytes.size() > kMaxBytes) return Bad("more than 1 GiB of records");
  // Pickle's protocol 2 and later begins so; a label of 128 would be no class either.
  if (static_cast<unsigned char>(bytes[0]) == 0x80) {
    return Bad("this is CIFAR-10's Python version (a pickle); take the binary version");
  }
  if (bytes.size() % kRecord == 0) return {};
  std::string message = "its " + std::to_string(bytes.size()) +
                        " bytes are no multiple of a record's " + std::to_string(kRecord);
  if (bytes.size() % kCifar100Record == 0) {
    message += ", but one of " + std::to_string(kCifar100Record) + ", a record of CIFAR-100";
  }
  return Bad(message);
}

Result<std::filesystem::path> FindFile(const std::filesystem::path& folder, int number) {
  const std::string name = "data_batch_" + std::to_string(number);
  std::error_code ignored;
  std::vector<std::filesystem::path> found;
  for (const char* suffix : {".bin", ".bin.gz"}) {
    const auto path = folder / (name + suffix);
    if (std::filesystem::exists(path, ignored)) found.push_back(path);
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    return Bad("ambiguous: both '" + found[0].string() + "' and '" + found[1].string() +
               "' are there; remove one of them");
  }
  std::string message = "no training set in '" + folder.string() + "': neither " + name +
                        ".bin nor " + name + ".bin.gz is there";
  if (std::filesystem::exists(folder / name, ignored)) {
    message += "; '" + name + "' belongs to CIFAR-10's Python version, take the binary version";
  }
  return Error(ErrorCode::kNotFound, message);
}

Result<CifarContent> ReadCifar10(const std::filesystem::path& path) {
  DLBENCH_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  auto content = ParseCifar10({file.data(), file.size()});
  if (!content.ok()) return content.error().WithContext("reading '" + path.string() + "'");
  return content;
}

}  // namespace

Result<CifarContent> ParseCifar10(std::span<const std::byte> file) {
  std::string bytes;
  DLBENCH_RETURN_IF_ERROR(OpenBytes(file)->Read(kMaxBytes + 1, bytes));
  DLBENCH_RETURN_IF_ERROR(CheckSize(bytes));
  CifarContent content;
  content.records = static_cast<std::int64_t>(bytes.size() / kRecord);
  content.pixels.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size() / kRecord; ++i) {
    const char* record = bytes.data() + i * kRecord;
    const int label = static_cast<unsigned char>(record[0]);
    if (label >= kClasses) {
      return Bad("label " + std::to_string(label) + " of record " + std::to_string(i) +
                 " is out of range: the classes are 0 to 9");
    }
    content.labels.push_back(record[0]);
    content.pixels.append(record + 1, kPixels);
  }
  return content;
}

Result<Dataset> LoadCifar10Folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return Error(ErrorCode::kNotFound, "no folder '" + folder.string() + "' with a training set");
  }
  const auto unpacked = folder / "cifar-10-batches-bin";
  const auto& place = std::filesystem::is_directory(unpacked, ignored) ? unpacked : folder;
  Dataset dataset;
  dataset.name = "CIFAR-10";
  dataset.source = place.string();
  dataset.sample_shape = {3, 32, 32};
  dataset.classes = kClasses;
  Sha256 hash;
  hash.Add("cifar-10\n");
  for (int number = 1; number <= kFiles; ++number) {
    DLBENCH_ASSIGN_OR_RETURN(const auto path, FindFile(place, number));
    DLBENCH_ASSIGN_OR_RETURN(const auto content, ReadCifar10(path));
    dataset.samples += content.records;
    dataset.pixels.insert(dataset.pixels.end(), content.pixels.begin(), content.pixels.end());
    dataset.labels.insert(dataset.labels.end(), content.labels.begin(), content.labels.end());
    hash.Add(content.labels);
    hash.Add(content.pixels);
  }
  dataset.content_hash = hash.Finish();
  return dataset;
}

}  // namespace dlbench::data
