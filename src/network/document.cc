// The Debian package of toml++ is built with exceptions; compiled here as headers without them, its
// errors are values. The flags of its CMake target say the opposite, hence the #undef.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// Values inside values are read by recursion; no network nests deeper than a few groups.
#define TOML_MAX_NESTED_VALUES 32

#include "network/document.h"

#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace dlbench::network {
namespace {

/// A ResNet fits a screen, so nothing honest comes near.
constexpr std::size_t kMaxBytes = 256 << 10;
/// Each point of a dotted key makes a table inside a table, and toml++ destroys those by recursion:
/// a long key would exhaust the stack. With 32 nested values at most 6,400 levels are possible.
constexpr int kMaxPointsPerLine = 200;

Position ToPosition(const toml::source_position& position) {
  return {static_cast<int>(position.line), static_cast<int>(position.column)};
}

Value Convert(const toml::node& node);

Value::Table ConvertTable(const toml::table& table) {
  Value::Table members;
  for (const auto& [key, node] : table) {
    Value value = Convert(node);
    value.key_position = ToPosition(key.source().begin);
    members.push_back({std::string(key.str()), std::move(value)});
  }
  // toml++ sorts by name; messages and resolution follow the file.
  std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    const Position& left = a.value.key_position;
    const Position& right = b.value.key_position;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  return members;
}

Value Convert(const toml::node& node) {
  Value value;
  value.position = ToPosition(node.source().begin);
  if (const auto* table = node.as_table()) {
    value.data = ConvertTable(*table);
  } else if (const auto* array = node.as_array()) {
    Value::Array elements;
    for (const auto& element : *array) elements.push_back(Convert(element));
    value.data = std::move(elements);
  } else if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.data = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    value.data = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    value.data = flag->get();
  }
  return value;
}

Status CheckSize(std::string_view text, const std::string& file_name) {
  if (text.size() > kMaxBytes) {
    return Error(ErrorCode::kInput, Locate(file_name, {},
                                           "the file is larger than 256 KiB; write repeated layers "
                                           "as a group with 'repeat'"));
  }
  int line = 1;
  int points = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      points = 0;
    } else if (c == '.' && ++points > kMaxPointsPerLine) {
      return Error(ErrorCode::kInput, Locate(file_name, {line, 1},
                                             "the line holds more than 200 points; break it up"));
    }
  }
  return {};
}

}  // namespace

std::string Value::KindName() const {
  static constexpr const char* kNames[] = {"a date",   "a boolean", "an integer", "a number",
                                           "a string", "an array",  "a table"};
  return kNames[data.index()];
}

std::string Locate(const std::string& file_name, Position position, const std::string& what) {
  std::string place = file_name.empty() ? "network" : file_name;
  if (position.line > 0) {
    place += ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  }
  return place + ": " + what;
}

Result<Value> ParseDocument(std::string_view text, const std::string& file_name) {
  DLBENCH_RETURN_IF_ERROR(CheckSize(text, file_name));
  const toml::parse_result parsed = toml::parse(text, std::string_view());
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Error(ErrorCode::kInput, Locate(file_name, ToPosition(error.source().begin),
                                           "not valid TOML: " + Printable(error.description()) +
                                               "; correct the syntax here or just before"));
  }
  return Convert(parsed.table());
}

}  // namespace dlbench::network
