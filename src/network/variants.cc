#include "network/variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "network/limits.h"
#include "network/table_reader.h"

namespace dlbench::network {
namespace {

constexpr std::size_t kMaxDescription = 4000;

// V is Value or const Value.

/// The value of `key` in a table; null where there is none or `table` is something else.
template <class V>
V* MemberOf(V& table, std::string_view key) {
  auto* members = std::get_if<Value::Table>(&table.data);
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const auto& member) { return member.key == key; });
  return found == members->end() ? nullptr : &found->value;
}

std::string NameOf(const Value& layer) {
  const Value* given = MemberOf(layer, "name");
  const auto* name = given == nullptr ? nullptr : std::get_if<std::string>(&given->data);
  return name == nullptr ? "" : *name;
}

/// The layer of the array `list` that is called `name`; null where there is none.
template <class V>
V* LayerOf(V& list, std::string_view name) {
  auto* layers = std::get_if<Value::Array>(&list.data);
  if (layers == nullptr) return nullptr;
  const auto found = std::find_if(layers->begin(), layers->end(),
                                  [&](const Value& layer) { return NameOf(layer) == name; });
  return found == layers->end() ? nullptr : &*found;
}

std::vector<std::string> NamesOf(const Value& list) {
  std::vector<std::string> names;
  if (const auto* layers = std::get_if<Value::Array>(&list.data)) {
    for (const Value& layer : *layers) names.push_back(NameOf(layer));
  }
  return names;
}

/// Whether every change is a table under the name of a layer that is there; goes into groups.
void CheckChanges(const Value::Table& changes, const Value& layers, const std::string& where,
                  int depth, Diagnostics& diagnostics) {
  for (const auto& [name, change] : changes) {
    const Value* layer = LayerOf(layers, name);
    const auto* keys = std::get_if<Value::Table>(&change.data);
    if (layer == nullptr) {
      const std::string start = name.substr(0, 64);
      diagnostics.Add(change.key_position,
                      fmt::format("{} changes layer '{}', which is not there{}", where, start,
                                  SuggestionFor(start, NamesOf(layers))));
    } else if (keys == nullptr) {
      diagnostics.Add(change.position, fmt::format("{} gives layer '{}' {}; it must be a table of "
                                                   "the keys to change",
                                                   where, name, change.KindName()));
    } else if (const Value* inner = MemberOf(*layer, "layers")) {
      if (depth < kMaxGroupDepth) CheckChanges(*keys, *inner, where, depth + 1, diagnostics);
    } else if (const Value* renamed = MemberOf(change, "name")) {
      diagnostics.Add(renamed->key_position,
                      fmt::format("{} renames layer '{}'; its name must stay", where, name));
    }
  }
}

void ApplyChanges(const Value::Table& changes, Value& layers, int depth) {
  for (const auto& [name, change] : changes) {
    const auto* keys = std::get_if<Value::Table>(&change.data);
    Value* layer = LayerOf(layers, name);
    if (layer == nullptr || keys == nullptr) continue;  // the cause has been told
    if (Value* inner = MemberOf(*layer, "layers")) {
      if (depth < kMaxGroupDepth) ApplyChanges(*keys, *inner, depth + 1);
      continue;
    }
    for (const auto& [key, value] : *keys) {
      if (Value* old = MemberOf(*layer, key)) {
        *old = value;
      } else {
        std::get<Value::Table>(layer->data).push_back({key, value});
      }
    }
  }
}

}  // namespace

std::vector<Variant> ReadVariants(const Value& document, Diagnostics& diagnostics) {
  std::vector<Variant> variants;
  if (MemberOf(document, "variants") == nullptr) return variants;
  const Value* layers = MemberOf(document, "layers");
  TableReader top(document, "the network", diagnostics);
  const Value::Array* tables = top.Tables("variants");
  if (tables == nullptr) return variants;
  for (const Value& table : *tables) {
    TableReader reader(table, "a variant", diagnostics);
    Variant variant;
    variant.name = reader.VariantName("name").value_or("");
    variant.description = reader.Text("description", kMaxDescription).value_or("");
    variant.layers = reader.Table("layers");
    reader.RejectUnknownKeys();
    for (const Variant& other : variants) {
      if (!variant.name.empty() && other.name == variant.name) {
        reader.Complain("name", fmt::format("the variant '{}' is there twice; choose another name",
                                            variant.name));
      }
    }
    if (variant.layers != nullptr && layers != nullptr) {
      CheckChanges(std::get<Value::Table>(variant.layers->data), *layers,
                   fmt::format("the variant '{}'", variant.name), 0, diagnostics);
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

Value WithChanges(const Value& document, const Variant& variant) {
  Value changed = document;
  if (Value* description = MemberOf(changed, "description"))
    description->data = variant.description;
  Value* layers = MemberOf(changed, "layers");
  if (layers != nullptr && variant.layers != nullptr) {
    ApplyChanges(std::get<Value::Table>(variant.layers->data), *layers, 0);
  }
  return changed;
}

}  // namespace dlbench::network
