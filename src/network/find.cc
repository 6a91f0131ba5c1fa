#include <algorithm>
#include <system_error>

#include "core/file.h"
#include "core/text.h"
#include "network/parse.h"

namespace dlbench::network {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".toml";
/// A little above what ParseDocument takes, so that it is the one that says so.
constexpr std::uint64_t kReadLimit = 1 << 20;

bool IsPath(const std::string& name) {
  return name.find('/') != std::string::npos || fs::path(name).extension() == kSuffix;
}

}  // namespace

Result<Network> LoadNetwork(const fs::path& path) {
  DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kReadLimit));
  return ParseNetwork(text, path.string());
}

std::vector<std::string> ListNetworks(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == kSuffix) names.push_back(entry->path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<Network> FindNetwork(const std::string& name_or_path, const std::vector<fs::path>& folders) {
  if (IsPath(name_or_path)) return LoadNetwork(name_or_path);
  for (const fs::path& folder : folders) {
    const fs::path path = folder / (name_or_path + kSuffix);
    std::error_code error;
    if (!name_or_path.empty() && fs::is_regular_file(path, error)) return LoadNetwork(path);
  }
  return Error(ErrorCode::kNotFound, "no network is called '" + name_or_path + "'" +
                                         SuggestionFor(name_or_path, ListNetworks(folders)) +
                                         " (a file of your own is given by its path)");
}

}  // namespace dlbench::network
