#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace dlbench::data {

/// A data set that the user has told where it is.
struct RegisteredSet {
  std::string kind;            ///< "mnist", "cifar10" or "text"; at most one set of a kind.
  std::filesystem::path path;  ///< Absolute: a folder or, of a text, a file.
  std::string content_hash;    ///< SetSummary::content_hash when it was added.
};

/// Where the registry lies in dlbench's own data folder.
std::filesystem::path RegistryFile(const std::filesystem::path& data_home);

/// What a set's files hold.
struct SetSummary {
  std::string text;          ///< "60,000 samples of [28, 28] in 10 classes".
  std::string content_hash;  ///< Of all of it: of images and labels, or of a text's bytes.
};
/// Reads the files of a set of this kind completely. Errors as those of the set's reader.
Result<SetSummary> Inspect(const std::string& kind, const std::filesystem::path& path);

/// The user's data sets, remembered in one JSON file. Files stay where they are; nothing is copied.
class DataRegistry {
 public:
  /// `file` need not exist yet.
  explicit DataRegistry(std::filesystem::path file) : file_(std::move(file)) {}

  /// All sets, by kind. kInput names the file where it is damaged.
  Result<std::vector<RegisteredSet>> All() const;
  Result<std::optional<RegisteredSet>> Find(const std::string& kind) const;
  /// Adds `set`, in the place of one of the same kind.
  Status Put(const RegisteredSet& set) const;
  /// Forgets the set of this kind; kNotFound where there is none.
  Status Remove(const std::string& kind) const;

 private:
  Status Write(const std::vector<RegisteredSet>& sets) const;

  std::filesystem::path file_;
};

}  // namespace dlbench::data
