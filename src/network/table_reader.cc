#include "network/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "network/limits.h"

namespace dlbench::network {
namespace {

constexpr std::size_t kMaxNameLength = 64;
constexpr std::size_t kMaxRank = 6;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Names become parts of tensor names, Python attributes and messages.
bool IsName(std::string_view text, std::string_view more) {
  if (text.empty() || text.size() > kMaxNameLength || !IsLetter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [more](char c) {
    return IsLetter(c) || (c >= '0' && c <= '9') || more.find(c) != std::string_view::npos;
  });
}

/// A hostile value is shown in part.
std::string Quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return "'" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
}

}  // namespace

TableReader::TableReader(const Value& table, std::string where, Diagnostics& diagnostics)
    : table_(table),
      members_(std::get<Value::Table>(table.data)),
      where_(std::move(where)),
      diagnostics_(diagnostics) {}

const Value* TableReader::Find(std::string_view key) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.key == key; });
  if (found != members_.end()) return &found->value;
  if (fallback_ == nullptr) return nullptr;
  const auto other = std::find_if(fallback_->begin(), fallback_->end(),
                                  [&](const Member& member) { return member.key == key; });
  return other == fallback_->end() ? nullptr : &other->value;
}

void TableReader::SetFallback(const Value& table) {
  fallback_ = &std::get<Value::Table>(table.data);
}

const Value* TableReader::Require(std::string_view key, std::string_view expected) {
  known_.emplace_back(key);
  const Value* value = Find(key);
  if (value == nullptr) {
    diagnostics_.Add(table_.position,
                     fmt::format("{} has no '{}'; write {} here: nothing that frameworks disagree "
                                 "on has a default",
                                 where_, key, expected));
  }
  return value;
}

void TableReader::WrongKind(const Value& value, std::string_view key, std::string_view expected) {
  diagnostics_.Add(value.position, fmt::format("'{}' of {} is {}; it must be {}", key, where_,
                                               value.KindName(), expected));
}

std::optional<std::int64_t> TableReader::Int(std::string_view key, std::int64_t minimum,
                                             std::int64_t maximum) {
  const std::string expected = fmt::format("an integer from {} to {}", minimum, maximum);
  const Value* value = Require(key, expected);
  if (value == nullptr) return std::nullopt;
  const auto* integer = std::get_if<std::int64_t>(&value->data);
  if (integer == nullptr) {
    WrongKind(*value, key, expected);
    return std::nullopt;
  }
  if (*integer < minimum || *integer > maximum) {
    Complain(key, fmt::format("'{}' of {} is {}; it must be {}", key, where_, *integer, expected));
    return std::nullopt;
  }
  return *integer;
}

std::optional<double> TableReader::Real(std::string_view key, double minimum, double maximum) {
  const std::string expected = fmt::format("a number from {} to {}", minimum, maximum);
  const Value* value = Require(key, expected);
  if (value == nullptr) return std::nullopt;
  double number = 0.0;
  if (const auto* integer = std::get_if<std::int64_t>(&value->data)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value->data)) {
    number = *real;
  } else {
    WrongKind(*value, key, expected);
    return std::nullopt;
  }
  if (!(number >= minimum && number <= maximum)) {  // also NaN
    Complain(key, fmt::format("'{}' of {} is {}; it must be {}", key, where_, number, expected));
    return std::nullopt;
  }
  return number == 0.0 ? 0.0 : number;  // -0.0 and 0.0 are one value in every format
}

std::optional<bool> TableReader::Bool(std::string_view key) {
  const Value* value = Require(key, "true or false");
  if (value == nullptr) return std::nullopt;
  const auto* flag = std::get_if<bool>(&value->data);
  if (flag == nullptr) {
    WrongKind(*value, key, "true or false");
    return std::nullopt;
  }
  return *flag;
}

std::optional<std::string> TableReader::Text(std::string_view key, std::size_t limit) {
  const Value* value = Require(key, "a string");
  if (value == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&value->data);
  if (text == nullptr) {
    WrongKind(*value, key, "a string");
    return std::nullopt;
  }
  if (text->size() > limit) {
    Complain(key,
             fmt::format("'{}' of {} is longer than {} bytes; shorten it", key, where_, limit));
    return std::nullopt;
  }
  return *text;
}

std::optional<std::string> TableReader::Choice(std::string_view key,
                                               const std::vector<std::string>& choices) {
  const std::string expected = "one of \"" + Join(choices, "\", \"") + "\"";
  const Value* value = Require(key, expected);
  if (value == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&value->data);
  if (text == nullptr) {
    WrongKind(*value, key, expected);
    return std::nullopt;
  }
  if (std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    const std::string_view start = std::string_view(*text).substr(0, kMaxNameLength);
    Complain(key, fmt::format("'{}' of {} is {}{}", key, where_, Quoted(*text),
                              SuggestionFor(start, choices)));
    return std::nullopt;
  }
  return *text;
}

std::optional<std::string> TableReader::Name(std::string_view key) {
  return NameWith(key, "_-", "a letter, then letters, digits, '_' or '-', at most 64 in all");
}

std::optional<std::string> TableReader::VariantName(std::string_view key) {
  return NameWith(key, "_-.", "a letter, then letters, digits, '_', '-' or '.', at most 64 in all");
}

std::optional<std::string> TableReader::NameWith(std::string_view key, std::string_view more,
                                                 std::string_view expected) {
  const Value* value = Require(key, expected);
  if (value == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&value->data);
  if (text == nullptr) {
    WrongKind(*value, key, expected);
    return std::nullopt;
  }
  if (!IsName(*text, more)) {
    Complain(key,
             fmt::format("'{}' of {} is {}; it must be {}", key, where_, Quoted(*text), expected));
    return std::nullopt;
  }
  return *text;
}

std::optional<Shape> TableReader::Sizes(std::string_view key) {
  const std::string expected =
      fmt::format("an array of one to {} positive integers, like [784]", kMaxRank);
  const Value* value = Require(key, expected);
  if (value == nullptr) return std::nullopt;
  const auto* array = std::get_if<Value::Array>(&value->data);
  if (array == nullptr || array->empty() || array->size() > kMaxRank) {
    WrongKind(*value, key, expected);
    return std::nullopt;
  }
  Shape shape;
  for (const Value& element : *array) {
    const auto* size = std::get_if<std::int64_t>(&element.data);
    if (size == nullptr || *size <= 0) {
      diagnostics_.Add(element.position,
                       fmt::format("'{}' of {} holds {}; it must be {}", key, where_,
                                   size ? std::to_string(*size) : element.KindName(), expected));
      return std::nullopt;
    }
    shape.push_back(*size);
  }
  if (!CheckedElementCount(shape)) {
    Complain(key, fmt::format("'{}' of {} has more than {} elements; make it smaller", key, where_,
                              kMaxTensorElements));
    return std::nullopt;
  }
  return shape;
}

std::optional<Shape> TableReader::Ints(std::string_view key, std::size_t length,
                                       std::int64_t minimum, std::int64_t maximum) {
  const std::string expected =
      fmt::format("an array of {} integers from {} to {}", length, minimum, maximum);
  const Value* value = Require(key, expected);
  if (value == nullptr) return std::nullopt;
  const auto* array = std::get_if<Value::Array>(&value->data);
  if (array == nullptr) {
    WrongKind(*value, key, expected);
    return std::nullopt;
  }
  Shape numbers;
  for (const Value& element : *array) {
    const auto* number = std::get_if<std::int64_t>(&element.data);
    if (number == nullptr || *number < minimum || *number > maximum) {
      diagnostics_.Add(
          element.position,
          fmt::format("'{}' of {} holds {}; it must be {}", key, where_,
                      number ? std::to_string(*number) : element.KindName(), expected));
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  if (numbers.size() != length) {
    Complain(key, fmt::format("'{}' of {} has {} elements; it must be {}", key, where_,
                              numbers.size(), expected));
    return std::nullopt;
  }
  return numbers;
}

std::optional<std::vector<std::string>> TableReader::Names(std::string_view key) {
  constexpr std::string_view kExpected = "an array of layer names, like [\"fc1\"]";
  const Value* value = Require(key, kExpected);
  if (value == nullptr) return std::nullopt;
  const auto* array = std::get_if<Value::Array>(&value->data);
  if (array == nullptr || array->empty()) {
    WrongKind(*value, key, kExpected);
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const Value& element : *array) {
    const auto* text = std::get_if<std::string>(&element.data);
    if (text == nullptr) {
      WrongKind(element, key, kExpected);
      return std::nullopt;
    }
    names.push_back(*text);
  }
  return names;
}

const Value* TableReader::Table(std::string_view key) {
  const Value* value = Require(key, "a table");
  if (value == nullptr) return nullptr;
  if (!std::holds_alternative<Value::Table>(value->data)) {
    WrongKind(*value, key, "a table");
    return nullptr;
  }
  return value;
}

const Value::Array* TableReader::Tables(std::string_view key) {
  constexpr std::string_view kExpected = "one or more tables";
  const Value* value = Require(key, kExpected);
  if (value == nullptr) return nullptr;
  const auto* array = std::get_if<Value::Array>(&value->data);
  const bool tables = array != nullptr && !array->empty() &&
                      std::all_of(array->begin(), array->end(), [](const Value& element) {
                        return std::holds_alternative<Value::Table>(element.data);
                      });
  if (!tables) {
    WrongKind(*value, key, kExpected);
    return nullptr;
  }
  return array;
}

bool TableReader::Has(std::string_view key) {
  known_.emplace_back(key);
  return Find(key) != nullptr;
}

Position TableReader::PositionOf(std::string_view key) const {
  const Value* value = Find(key);
  return value == nullptr ? table_.position : value->position;
}

void TableReader::Complain(std::string_view key, const std::string& what) {
  diagnostics_.Add(PositionOf(key), what);
}

void TableReader::RejectUnknownKeys() {
  std::sort(known_.begin(), known_.end());
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
  for (const auto& [key, value] : members_) {
    if (std::binary_search(known_.begin(), known_.end(), key)) continue;
    const std::string start = key.substr(0, kMaxNameLength);
    diagnostics_.Add(value.key_position, fmt::format("{} has an unknown key {}{}", where_,
                                                     Quoted(key), SuggestionFor(start, known_)));
  }
}

}  // namespace dlbench::network
