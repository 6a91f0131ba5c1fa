#include "worker/json_text.h"

#include <algorithm>
#include <array>

#include "core/text.h"

namespace dlbench::worker {
namespace {

/// Tells which characters of a JSON text are outside its strings.
class StringTracker {
 public:
  /// Whether `c`, the next character, is outside strings. Quotation marks count as inside.
  bool Outside(char c) {
    if (!inside_) {
      inside_ = c == '"';
      return !inside_;
    }
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      inside_ = false;
    }
    return false;
  }

 private:
  bool inside_ = false;
  bool escaped_ = false;
};

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

}  // namespace

std::size_t JsonDepth(std::string_view text) {
  StringTracker tracker;
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const char c : text) {
    if (!tracker.Outside(c)) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return deepest;
}

bool ReplaceNonFinite(std::string& text) {
  constexpr std::array<std::string_view, 5> kWords = {"-Infinity", "Infinity", "-NaN", "NaN",
                                                      "nan"};
  // Most lines are long and innocent: look for the letters first.
  if (text.find("NaN") == std::string::npos && text.find("Infinity") == std::string::npos &&
      text.find("nan") == std::string::npos) {
    return false;
  }
  StringTracker tracker;
  std::string mended;
  bool found = false;
  for (std::size_t i = 0; i < text.size();) {
    const bool outside = tracker.Outside(text[i]);
    const auto word = std::find_if(kWords.begin(), kWords.end(), [&](std::string_view w) {
      return outside && text.compare(i, w.size(), w) == 0;
    });
    if (word == kWords.end()) {
      mended += text[i++];
      continue;
    }
    found = true;
    mended += "null";
    i += word->size();
  }
  if (found) text = mended;
  return found;
}

std::string MendUtf8(std::string_view text) {
  std::string mended;
  mended.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && IsAscii(text[end])) ++end;
    mended += text.substr(i, end - i);
    i = end;
    while (end < text.size() && !IsAscii(text[end])) ++end;
    // This run has no backslash of its own: every one in the result is ours and needs its escape.
    for (const char c : SanitizeUtf8(text.substr(i, end - i))) {
      mended += c;
      if (c == '\\') mended += c;
    }
    i = end;
  }
  return mended;
}

}  // namespace dlbench::worker
