#include <toml++/toml.h>

#include <algorithm>
#include <set>

#include "core/file.h"
#include "core/text.h"
#include "frameworks/frameworks.h"

namespace dlbench::frameworks {
namespace {

namespace fs = std::filesystem;

/// Reads one TOML table with every key accounted for; the first thing wrong is kept with its line.
class TableReader {
 public:
  TableReader(const toml::table& table, fs::path file, std::string where,
              std::optional<Error>* error)
      : table_(table), file_(std::move(file)), where_(std::move(where)), error_(error) {}

  std::string Text(const char* key, bool required) {
    const toml::node* node = Take(key, required);
    if (node == nullptr) return "";
    if (const auto value = node->value_exact<std::string>()) return *value;
    return Wrong(*node, key, "must be a string"), "";
  }
  std::vector<std::string> Texts(const char* key) {
    std::vector<std::string> texts;
    const toml::node* node = Take(key, false);
    if (node == nullptr) return texts;
    const toml::array* array = node->as_array();
    if (array == nullptr) return Wrong(*node, key, "must be a list of strings"), texts;
    for (const toml::node& element : *array) {
      const auto value = element.value_exact<std::string>();
      if (!value) return Wrong(element, key, "must hold strings only"), texts;
      texts.push_back(*value);
    }
    return texts;
  }
  std::uint64_t Count(const char* key) {
    const toml::node* node = Take(key, false);
    if (node == nullptr) return 0;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 0) return Wrong(*node, key, "must be a whole number, 0 or more"), 0;
    return static_cast<std::uint64_t>(*value);
  }
  bool Flag(const char* key) {
    const toml::node* node = Take(key, false);
    if (node == nullptr) return false;
    if (const auto value = node->value_exact<bool>()) return *value;
    return Wrong(*node, key, "must be true or false"), false;
  }
  const toml::table* Table(const char* key) {
    const toml::node* node = Take(key, false);
    if (node == nullptr) return nullptr;
    if (node->as_table() == nullptr) Wrong(*node, key, "must be a table");
    return node->as_table();
  }
  /// Every entry as text: a table of strings.
  std::map<std::string, std::string> AllTexts() {
    std::map<std::string, std::string> texts;
    for (const auto& [key, node] : table_) texts[std::string(key.str())] = Text(key.data(), true);
    return texts;
  }
  const toml::array* Tables(const char* key) {
    const toml::node* node = Take(key, false);
    if (node == nullptr) return nullptr;
    if (!node->is_array_of_tables()) Wrong(*node, key, "must be a list of tables: [[...]]");
    return node->as_array();
  }
  /// After everything that is known has been taken.
  void RefuseOthers() {
    for (const auto& [key, node] : table_) {
      if (taken_.count(std::string(key.str())) != 0) continue;
      Fail(key.source().begin.line, "unknown key '" + std::string(key.str()) + "'" +
                                        SuggestionFor(key.str(), {taken_.begin(), taken_.end()}));
    }
  }
  void Fail(std::uint32_t line, const std::string& message) {
    if (*error_) return;
    error_->emplace(ErrorCode::kInput, file_.string() + ":" + std::to_string(line) + ": " +
                                           (where_.empty() ? "" : where_ + ": ") + message);
  }
  std::uint32_t Line(const char* key) const {
    const toml::node* node = table_.get(key);
    return node != nullptr ? node->source().begin.line : table_.source().begin.line;
  }

 private:
  const toml::node* Take(const char* key, bool required) {
    taken_.insert(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr && required) {
      Fail(std::max(1U, table_.source().begin.line), "'" + std::string(key) + "' is missing");
    }
    return node;
  }
  void Wrong(const toml::node& node, const char* key, const char* rule) {
    Fail(node.source().begin.line, "'" + std::string(key) + "' " + rule);
  }

  const toml::table& table_;
  fs::path file_;
  std::string where_;
  std::optional<Error>* error_;
  std::set<std::string> taken_;
};

struct Parsing {
  fs::path file;
  std::optional<Error> error;

  TableReader Reader(const toml::table& table, const std::string& where) {
    return TableReader(table, file, where, &error);
  }
};

void ReadVariants(TableReader& top, Parsing& parsing, Manifest& manifest) {
  const toml::array* tables = top.Tables("variant");
  if (tables == nullptr) return;
  for (const toml::node& node : *tables) {
    if (node.as_table() == nullptr) return;
    TableReader reader = parsing.Reader(*node.as_table(), "[[variant]]");
    Variant variant;
    variant.name = reader.Text("name", true);
    variant.lock = reader.Text("lock", true);
    variant.needs = reader.Text("needs", false);
    variant.download_mb = reader.Count("download_mb");
    variant.disk_mb = reader.Count("disk_mb");
    variant.ask = reader.Flag("ask");
    reader.RefuseOthers();
    if (!variant.lock.empty() && !fs::exists(manifest.folder / variant.lock)) {
      reader.Fail(reader.Line("lock"), "there is no lock file '" + variant.lock + "'");
    }
    manifest.variants.push_back(variant);
  }
}

void ReadPresets(TableReader& top, Parsing& parsing, Manifest& manifest) {
  const toml::table* presets = top.Table("preset");
  if (presets == nullptr) return;
  for (const auto& [key, node] : *presets) {
    const std::string name(key.str());
    const std::string where = "[preset." + name + "]";
    if (node.as_table() == nullptr) {
      return parsing.Reader(*presets, where).Fail(key.source().begin.line, "must be a table");
    }
    TableReader reader = parsing.Reader(*node.as_table(), where);
    manifest.presets.push_back(name);
    manifest.preset_notes[name] = {{"what", reader.Text("what", true)},
                                   {"source", reader.Text("source", true)}};
    if (const toml::table* environment = reader.Table("environment")) {
      manifest.preset_environment[name] =
          parsing.Reader(*environment, "[preset." + name + ".environment]").AllTexts();
    }
    reader.RefuseOthers();
  }
}

void ReadProbe(TableReader& top, Parsing& parsing, Manifest& manifest) {
  const toml::table* table = top.Table("probe");
  if (table == nullptr) return;
  TableReader reader = parsing.Reader(*table, "[probe]");
  manifest.probe = {reader.Text("module", true), reader.Texts("packages"),
                    reader.Text("known_good", false), reader.Text("smoke", false)};
  reader.RefuseOthers();
}

void ReadBuild(TableReader& top, Parsing& parsing, Manifest& manifest) {
  const toml::table* table = top.Table("build");
  if (table == nullptr) return;
  TableReader reader = parsing.Reader(*table, "[build]");
  manifest.build = {reader.Text("query", true), reader.Texts("flags")};
  reader.RefuseOthers();
}

/// What one key demands of another.
void CheckTogether(TableReader& top, Manifest& manifest) {
  static const std::vector<std::string> kKinds = {"builtin", "root", "source", "system", "venv"};
  if (!std::binary_search(kKinds.begin(), kKinds.end(), manifest.kind)) {
    top.Fail(top.Line("kind"),
             "unknown kind '" + manifest.kind + "'" + SuggestionFor(manifest.kind, kKinds));
  }
  if (manifest.name != manifest.folder.filename()) {
    top.Fail(top.Line("name"), "'name' is '" + manifest.name + "' but the folder is '" +
                                   manifest.folder.filename().string() + "': they must agree");
  }
  if (manifest.kind == "venv" &&
      (manifest.variants.empty() || manifest.pythons.empty() || manifest.python_version.empty() ||
       manifest.probe.module.empty())) {
    top.Fail(top.Line("kind"),
             "kind 'venv' needs 'python', 'python_version', [probe] and one [[variant]] or more");
  }
  if (manifest.kind == "source" && (manifest.shares.empty() || manifest.build.query.empty())) {
    top.Fail(top.Line("kind"), "kind 'source' needs 'shares' and [build] with 'query'");
  }
  if (manifest.kind != "builtin" && !fs::exists(manifest.folder / manifest.adapter)) {
    top.Fail(top.Line("adapter"), "there is no adapter '" + manifest.adapter + "'");
  }
  if (manifest.presets.empty()) top.Fail(1, "one [preset.NAME] or more must be there");
}

Manifest ReadManifest(const toml::table& table, Parsing& parsing) {
  TableReader top = parsing.Reader(table, "");
  Manifest manifest;
  manifest.folder = parsing.file.parent_path();
  manifest.name = top.Text("name", true);
  manifest.title = top.Text("title", true);
  manifest.kind = top.Text("kind", true);
  manifest.language = top.Text("language", true);
  manifest.adapter = top.Text("adapter", true);
  manifest.shares = top.Text("shares", false);
  manifest.version = top.Text("version", false);
  manifest.pythons = top.Texts("python");
  manifest.python_version = top.Text("python_version", false);
  if (const toml::table* environment = top.Table("environment")) {
    manifest.environment = parsing.Reader(*environment, "[environment]").AllTexts();
  }
  ReadVariants(top, parsing, manifest);
  ReadPresets(top, parsing, manifest);
  ReadProbe(top, parsing, manifest);
  ReadBuild(top, parsing, manifest);
  top.RefuseOthers();
  CheckTogether(top, manifest);
  return manifest;
}

}  // namespace

Result<Manifest> LoadManifest(const fs::path& file) {
  DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, 1U << 20));
  try {
    const toml::table table = toml::parse(text, file.string());
    Parsing parsing{file, std::nullopt};
    Manifest manifest = ReadManifest(table, parsing);
    if (parsing.error) return *parsing.error;
    return manifest;
  } catch (const toml::parse_error& error) {
    return Error(ErrorCode::kInput, file.string() + ":" +
                                        std::to_string(error.source().begin.line) + ": " +
                                        std::string(error.description()));
  }
}

Result<std::vector<Manifest>> LoadManifests(const Places& places) {
  std::error_code failure;
  std::vector<Manifest> manifests;
  for (const auto& entry : fs::directory_iterator(places.adapters, failure)) {
    const fs::path file = entry.path() / "manifest.toml";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    DLBENCH_ASSIGN_OR_RETURN(Manifest manifest, LoadManifest(file));
    manifests.push_back(std::move(manifest));
  }
  if (failure) {
    return Error(ErrorCode::kNotFound, "cannot read the adapters' folder '" +
                                           places.adapters.string() + "': " + failure.message());
  }
  std::sort(manifests.begin(), manifests.end(),
            [](const Manifest& a, const Manifest& b) { return a.name < b.name; });
  return manifests;
}

}  // namespace dlbench::frameworks
