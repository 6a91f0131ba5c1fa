#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace dlbench::store {

/// Longest log kept with a launch, in bytes.
inline constexpr std::size_t kLogLimitBytes = 64 * 1024;

/// Valid UTF-8 (SanitizeUtf8) that is at most kLogLimitBytes long: the end of a longer log with
/// "[N bytes cut]" before it.
std::string CutLog(std::string_view log);

/// JSON objects and arrays of sanitised text. A number that is not finite is left out: unknown is
/// absent.
std::string ToJson(const std::map<std::string, std::string>& texts);
std::string ToJson(const std::map<std::string, double>& numbers);
std::string ToJson(const std::vector<std::string>& texts);

/// And back; kInput where `json` is something else.
Result<std::map<std::string, std::string>> TextMapFromJson(const std::string& json);
Result<std::map<std::string, double>> NumberMapFromJson(const std::string& json);
Result<std::vector<std::string>> TextListFromJson(const std::string& json);

}  // namespace dlbench::store
