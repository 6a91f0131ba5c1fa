#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"

namespace dlbench::network {

/// A place in the user's file; both count from 1. Line 0 means the file as a whole.
struct Position {
  int line = 0;
  int column = 0;
};

struct Member;

/// One value of a network file with its place: what the parser sees of TOML. Dates do not occur in
/// networks and are kept as the empty kind.
struct Value {
  using Array = std::vector<Value>;
  using Table = std::vector<Member>;
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table>;
  Position position;
  Position key_position;  ///< Of the key that names the value, where there is one.
  Data data;

  /// "an integer", "a table" ...: how messages call the kind of value.
  std::string KindName() const;
};

/// A key of a table and its value.
struct Member {
  std::string key;
  Value value;
};

/// An error of the file: "FILE:LINE:COLUMN: what; what to do".
std::string Locate(const std::string& file_name, Position position, const std::string& what);

/// Reads TOML text of at most 256 KiB; nothing in it is executed and no file is opened. The error
/// carries its place as Locate writes it.
Result<Value> ParseDocument(std::string_view text, const std::string& file_name);

}  // namespace dlbench::network
