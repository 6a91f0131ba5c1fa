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

/// Between the path of a file and the name of a variant in it.
constexpr const char* kVariantMark = ".toml#";

bool IsPath(const std::string& name) {
  return name.find('/') != std::string::npos || fs::path(name).extension() == kSuffix ||
         name.find(kVariantMark) != std::string::npos;
}

Result<Network> LoadByPath(const std::string& path) {
  const std::size_t mark = path.rfind(kVariantMark);
  if (mark == std::string::npos) return LoadNetwork(path);
  const std::size_t end = mark + std::string(kSuffix).size();
  return LoadNetwork(path.substr(0, end), path.substr(end + 1));
}

/// The file NAME.toml in the first of `folders` that has it; empty where none has.
fs::path FileOf(const std::string& name, const std::vector<fs::path>& folders) {
  if (name.empty()) return {};
  for (const fs::path& folder : folders) {
    fs::path path = folder / (name + kSuffix);
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path;
  }
  return {};
}

/// Variants of a file; none of one that cannot be read, which loading it will say.
std::vector<std::string> VariantsOf(const fs::path& path) {
  const auto text = ReadFile(path, kReadLimit);
  if (!text) return {};
  auto names = VariantNames(*text, path.string());
  return names ? std::move(names).value() : std::vector<std::string>();
}

}  // namespace

Result<Network> LoadNetwork(const fs::path& path, const std::string& variant) {
  DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kReadLimit));
  return ParseNetwork(text, path.string(), variant);
}

Result<std::vector<Network>> LoadAllVariants(const fs::path& path) {
  std::vector<Network> networks;
  DLBENCH_ASSIGN_OR_RETURN(auto base, LoadNetwork(path));
  networks.push_back(std::move(base));
  for (const std::string& name : VariantsOf(path)) {
    DLBENCH_ASSIGN_OR_RETURN(auto variant, LoadNetwork(path, name));
    networks.push_back(std::move(variant));
  }
  return networks;
}

std::vector<std::string> ListNetworks(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() != kSuffix) continue;
      const std::string name = entry->path().stem().string();
      names.push_back(name);
      for (const std::string& variant : VariantsOf(entry->path())) {
        names.push_back(name);
        names.back() += "-" + variant;
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<Network> FindNetwork(const std::string& name_or_path, const std::vector<fs::path>& folders) {
  if (IsPath(name_or_path)) return LoadByPath(name_or_path);
  if (const fs::path path = FileOf(name_or_path, folders); !path.empty()) return LoadNetwork(path);
  for (std::size_t dash = name_or_path.rfind('-'); dash != std::string::npos && dash > 0;
       dash = name_or_path.rfind('-', dash - 1)) {
    const fs::path path = FileOf(name_or_path.substr(0, dash), folders);
    if (path.empty()) continue;
    const std::string variant = name_or_path.substr(dash + 1);
    const auto known = VariantsOf(path);
    if (std::find(known.begin(), known.end(), variant) != known.end()) {
      return LoadNetwork(path, variant);
    }
  }
  return Error(ErrorCode::kNotFound, "no network is called '" + name_or_path + "'" +
                                         SuggestionFor(name_or_path, ListNetworks(folders)) +
                                         " (a file of your own is given by its path)");
}

}  // namespace dlbench::network
