#include "data/registry.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/file.h"
#include "data/cifar.h"
#include "data/corpus.h"
#include "data/dataset.h"

namespace dlbench::data {
namespace {

using Json = nlohmann::ordered_json;

/// One entry; nothing where it is none.
std::optional<RegisteredSet> SetFrom(const Json& entry) {
  RegisteredSet set;
  for (const char* key : {"kind", "path", "content_hash"}) {
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_string()) return std::nullopt;
  }
  set.kind = entry["kind"].get<std::string>();
  set.path = entry["path"].get<std::string>();
  set.content_hash = entry["content_hash"].get<std::string>();
  if (set.kind.empty() || !set.path.is_absolute()) return std::nullopt;
  return set;
}

auto IsOfKind(const std::string& kind) {
  return [&kind](const RegisteredSet& set) { return set.kind == kind; };
}

}  // namespace

std::filesystem::path RegistryFile(const std::filesystem::path& data_home) {
  return data_home / "data-sets.json";
}

Result<SetSummary> Inspect(const std::string& kind, const std::filesystem::path& path) {
  if (kind == "text") return InspectText(path);
  DLBENCH_ASSIGN_OR_RETURN(const Dataset set, kind == "cifar10"
                                                  ? LoadCifar10Folder(path)
                                                  : LoadIdxFolder(path, "MNIST (user)"));
  return SetSummary{std::to_string(set.samples) + " samples of " +
                        network::ToString(set.sample_shape) + " in " + std::to_string(set.classes) +
                        " classes",
                    set.content_hash};
}

Result<std::vector<RegisteredSet>> DataRegistry::All() const {
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return std::vector<RegisteredSet>();
  DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(file_));
  const Json parsed = Json::parse(text, nullptr, false);
  const Error damaged(ErrorCode::kInput, "'" + file_.string() +
                                             "' is no list of data sets; remove it and add the "
                                             "sets again (dlbench data add)");
  if (!parsed.is_object() || !parsed.contains("sets") || !parsed["sets"].is_array()) return damaged;
  std::vector<RegisteredSet> sets;
  for (const Json& entry : parsed["sets"]) {
    const auto set = SetFrom(entry);
    if (!set || std::any_of(sets.begin(), sets.end(), IsOfKind(set->kind))) return damaged;
    sets.push_back(*set);
  }
  return sets;
}

Result<std::optional<RegisteredSet>> DataRegistry::Find(const std::string& kind) const {
  DLBENCH_ASSIGN_OR_RETURN(const auto sets, All());
  const auto found = std::find_if(sets.begin(), sets.end(), IsOfKind(kind));
  if (found == sets.end()) return std::optional<RegisteredSet>();
  return std::optional(*found);
}

Status DataRegistry::Put(const RegisteredSet& set) const {
  DLBENCH_ASSIGN_OR_RETURN(auto sets, All());
  std::erase_if(sets, IsOfKind(set.kind));
  sets.push_back(set);
  std::sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
  return Write(sets);
}

Status DataRegistry::Remove(const std::string& kind) const {
  DLBENCH_ASSIGN_OR_RETURN(auto sets, All());
  if (std::erase_if(sets, IsOfKind(kind)) == 0) {
    return Error(ErrorCode::kNotFound, "no data set of kind '" + kind + "' has been added");
  }
  return Write(sets);
}

Status DataRegistry::Write(const std::vector<RegisteredSet>& sets) const {
  Json entries = Json::array();
  for (const RegisteredSet& set : sets) {
    entries.push_back(
        {{"kind", set.kind}, {"path", set.path.string()}, {"content_hash", set.content_hash}});
  }
  std::error_code error;
  std::filesystem::create_directories(file_.parent_path(), error);
  if (error) {
    return Error(ErrorCode::kIo, "cannot make the folder '" + file_.parent_path().string() +
                                     "': " + error.message());
  }
  return WriteFileAtomically(
      file_, Json{{"sets", entries}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace dlbench::data
