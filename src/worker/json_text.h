#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dlbench::worker {

/// Depth of the deepest [ or { outside strings.
std::size_t JsonDepth(std::string_view text);

/// Whether NaN, Infinity or -Infinity stand outside strings (Python's json writes them), which JSON
/// does not know; `text` then has null in their place, so that the rest can be read and the fault
/// named.
bool ReplaceNonFinite(std::string& text);

/// Every byte that is not valid UTF-8 as "\\xXX" inside its JSON string. Valid text is unchanged.
std::string MendUtf8(std::string_view text);

}  // namespace dlbench::worker
