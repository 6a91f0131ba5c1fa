#include "store/column_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text.h"

namespace dlbench::store {
namespace {

using Json = nlohmann::json;

/// Parses and converts; the library's exceptions end here.
template <class T>
Result<T> Parse(const std::string& json) {
  try {
    return Json::parse(json).get<T>();
  } catch (const Json::exception& exception) {
    return Error(ErrorCode::kInput,
                 std::string("a stored JSON text is damaged: ") + exception.what());
  }
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string CutLog(std::string_view log) {
  const std::string clean = SanitizeUtf8(log);
  if (clean.size() <= kLogLimitBytes) return clean;
  constexpr std::size_t kRoomForMark = 64;
  std::size_t start = clean.size() - (kLogLimitBytes - kRoomForMark);
  while (start < clean.size() && IsContinuation(clean[start])) ++start;
  return "[" + std::to_string(start) + " bytes cut]\n" + clean.substr(start);
}

std::string ToJson(const std::map<std::string, std::string>& texts) {
  Json object = Json::object();
  for (const auto& [key, text] : texts) object[SanitizeUtf8(key)] = SanitizeUtf8(text);
  return object.dump();
}

std::string ToJson(const std::map<std::string, double>& numbers) {
  Json object = Json::object();
  for (const auto& [key, number] : numbers) {
    if (std::isfinite(number)) object[SanitizeUtf8(key)] = number;
  }
  return object.dump();
}

std::string ToJson(const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const auto& text : texts) array.push_back(SanitizeUtf8(text));
  return array.dump();
}

Result<std::map<std::string, std::string>> TextMapFromJson(const std::string& json) {
  return Parse<std::map<std::string, std::string>>(json);
}

Result<std::map<std::string, double>> NumberMapFromJson(const std::string& json) {
  return Parse<std::map<std::string, double>>(json);
}

Result<std::vector<std::string>> TextListFromJson(const std::string& json) {
  return Parse<std::vector<std::string>>(json);
}

}  // namespace dlbench::store
