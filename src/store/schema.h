#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dlbench::store {

/// "dlbc": marks a file as ours (PRAGMA application_id).
inline constexpr std::int64_t kApplicationId = 0x646c6263;
/// Version of the schema that this program writes (PRAGMA user_version).
inline constexpr std::int64_t kSchemaVersion = 1;

/// One step from version - 1 to `version`.
struct Migration {
  std::int64_t version = 0;
  std::string_view sql;
};

/// All steps from an empty file to kSchemaVersion, in order. docs/store.md explains the tables.
std::span<const Migration> Migrations();

}  // namespace dlbench::store
