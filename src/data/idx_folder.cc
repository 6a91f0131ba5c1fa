#include <algorithm>
#include <array>

#include "core/file.h"
#include "core/text.h"
#include "data/dataset.h"
#include "data/idx.h"
#include "data/sha256.h"

namespace dlbench::data {
namespace {

// Unpackers write either; each may stay compressed, with or without the suffix.
constexpr std::array<const char*, 4> kImageNames = {
    "train-images-idx3-ubyte", "train-images-idx3-ubyte.gz", "train-images.idx3-ubyte",
    "train-images.idx3-ubyte.gz"};
constexpr std::array<const char*, 4> kLabelNames = {
    "train-labels-idx1-ubyte", "train-labels-idx1-ubyte.gz", "train-labels.idx1-ubyte",
    "train-labels.idx1-ubyte.gz"};

bool Exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string Quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

Error Missing(const std::filesystem::path& folder, const std::array<const char*, 4>& names) {
  return Error(ErrorCode::kNotFound,
               "no training set in " + Quoted(folder) +
                   ": none of these files is there: " + Join({names.begin(), names.end()}, ", "));
}

// The one file of several spellings. Two spellings may stand side by side only with equal content.
Result<std::filesystem::path> FindOne(const std::filesystem::path& folder,
                                      const std::array<const char*, 4>& names, IdxKind kind) {
  std::vector<std::filesystem::path> found;
  for (const char* name : names) {
    if (Exists(folder / name)) found.push_back(folder / name);
  }
  if (found.empty()) return Missing(folder, names);
  if (found.size() == 1) return found.front();
  DLBENCH_ASSIGN_OR_RETURN(const auto first, ReadIdx(found.front(), kind));
  for (std::size_t i = 1; i < found.size(); ++i) {
    DLBENCH_ASSIGN_OR_RETURN(const auto other, ReadIdx(found[i], kind));
    if (other.shape != first.shape || other.bytes != first.bytes) {
      return Error(ErrorCode::kInput, "ambiguous: " + Quoted(found.front()) + " and " +
                                          Quoted(found[i]) +
                                          " hold different data; remove one of them");
    }
  }
  return found.front();
}

Status CheckLabels(const std::filesystem::path& path, const std::string& labels,
                   std::int64_t classes) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int label = static_cast<unsigned char>(labels[i]);
    if (label >= classes) {
      return Error(ErrorCode::kInput, Quoted(path) + ": label " + std::to_string(label) +
                                          " of sample " + std::to_string(i) +
                                          " is out of range: the classes are 0 to " +
                                          std::to_string(classes - 1));
    }
  }
  return {};
}

std::string HashOf(const IdxContent& images, const IdxContent& labels) {
  Sha256 hash;
  hash.Add("idx " + network::ToString(images.shape) + "\n");
  hash.Add(images.bytes);
  hash.Add(labels.bytes);
  return hash.Finish();
}

}  // namespace

Result<Dataset> LoadIdx(const std::filesystem::path& images, const std::filesystem::path& labels,
                        std::int64_t classes) {
  DLBENCH_ASSIGN_OR_RETURN(const auto image_content, ReadIdx(images, IdxKind::kImages));
  DLBENCH_ASSIGN_OR_RETURN(const auto label_content, ReadIdx(labels, IdxKind::kLabels));
  if (image_content.shape[0] != label_content.shape[0]) {
    return Error(ErrorCode::kInput, "counts disagree: " + Quoted(images) + " holds " +
                                        std::to_string(image_content.shape[0]) + " images, " +
                                        Quoted(labels) + " " +
                                        std::to_string(label_content.shape[0]) + " labels");
  }
  DLBENCH_RETURN_IF_ERROR(CheckLabels(labels, label_content.bytes, classes));
  Dataset dataset;
  dataset.name = "MNIST (user)";
  dataset.source = images.string();
  dataset.samples = image_content.shape[0];
  dataset.sample_shape = {image_content.shape[1], image_content.shape[2]};
  dataset.classes = classes;
  dataset.pixels.assign(image_content.bytes.begin(), image_content.bytes.end());
  for (const char label : label_content.bytes) {
    dataset.labels.push_back(static_cast<unsigned char>(label));
  }
  dataset.content_hash = HashOf(image_content, label_content);
  return dataset;
}

Result<Dataset> LoadIdxFolder(const std::filesystem::path& folder, const std::string& name,
                              std::int64_t classes) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return Error(ErrorCode::kNotFound, "no folder " + Quoted(folder) + " with a training set");
  }
  DLBENCH_ASSIGN_OR_RETURN(const auto images, FindOne(folder, kImageNames, IdxKind::kImages));
  DLBENCH_ASSIGN_OR_RETURN(const auto labels, FindOne(folder, kLabelNames, IdxKind::kLabels));
  DLBENCH_ASSIGN_OR_RETURN(auto dataset, LoadIdx(images, labels, classes));
  dataset.name = name;
  dataset.source = folder.string();
  return dataset;
}

}  // namespace dlbench::data
