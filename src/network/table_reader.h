#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/diagnostics.h"
#include "network/document.h"
#include "network/network.h"

namespace dlbench::network {

/// Reads one table of a network file key by key. Whatever is wrong goes to the diagnostics, with
/// its place, and reads as absent; so does a missing key unless the function says "optional".
class TableReader {
 public:
  /// `table` must hold a table and outlive this; `where` names it in messages: "layer 'fc1'".
  TableReader(const Value& table, std::string where, Diagnostics& diagnostics);

  /// An integer from `minimum` to `maximum`.
  std::optional<std::int64_t> Int(std::string_view key, std::int64_t minimum, std::int64_t maximum);
  /// A finite number from `minimum` to `maximum`; integers count as numbers.
  std::optional<double> Real(std::string_view key, double minimum, double maximum);
  std::optional<bool> Bool(std::string_view key);
  /// A string of at most `limit` bytes.
  std::optional<std::string> Text(std::string_view key, std::size_t limit);
  /// One of `choices`.
  std::optional<std::string> Choice(std::string_view key, const std::vector<std::string>& choices);
  /// A name: a letter, then letters, digits, '_' or '-', at most 64.
  std::optional<std::string> Name(std::string_view key);
  /// A name that may hold points too: "v1.5".
  std::optional<std::string> VariantName(std::string_view key);
  /// One to six positive sizes whose product fits a tensor (kMaxTensorElements).
  std::optional<Shape> Sizes(std::string_view key);
  /// `length` integers, each from `minimum` to `maximum`.
  std::optional<Shape> Ints(std::string_view key, std::size_t length, std::int64_t minimum,
                            std::int64_t maximum);
  /// One or more strings.
  std::optional<std::vector<std::string>> Names(std::string_view key);
  /// A table.
  const Value* Table(std::string_view key);
  /// A non-empty array whose elements are all tables.
  const Value::Array* Tables(std::string_view key);

  /// Where keys that this table does not hold are read; must hold a table and outlive this.
  void SetFallback(const Value& table);
  /// Whether `key` is there; marks it as known.
  bool Has(std::string_view key);
  /// Where the value of `key` is, or the table where there is none.
  Position PositionOf(std::string_view key) const;
  Position position() const { return table_.position; }
  const std::string& where() const { return where_; }
  /// Notes an error at the value of `key`.
  void Complain(std::string_view key, const std::string& what);
  /// Notes every key that nobody asked for, with the nearest known one.
  void RejectUnknownKeys();

 private:
  const Value* Find(std::string_view key) const;
  std::optional<std::string> NameWith(std::string_view key, std::string_view more,
                                      std::string_view expected);
  /// The value, or an error that `expected` is missing.
  const Value* Require(std::string_view key, std::string_view expected);
  void WrongKind(const Value& value, std::string_view key, std::string_view expected);

  const Value& table_;
  const Value::Table& members_;
  const Value::Table* fallback_ = nullptr;
  std::string where_;
  Diagnostics& diagnostics_;
  std::vector<std::string> known_;
};

}  // namespace dlbench::network
