#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlbench {

/// Splits at every `separator`; an empty text gives one empty piece.
std::vector<std::string> Split(std::string_view text, char separator);
/// Joins with `separator` between the pieces.
std::string Join(const std::vector<std::string>& pieces, std::string_view separator);
/// Without leading and trailing blanks, tabs and line ends.
std::string_view Trim(std::string_view text);
/// Whole text as a decimal integer, whatever the locale; nothing for anything else.
std::optional<std::int64_t> ParseInt(std::string_view text);
/// Whole text as a finite decimal number with a point, whatever the locale; nothing for anything
/// else.
std::optional<double> ParseDouble(std::string_view text);
/// The candidate nearest to `word` by edit distance, if near enough to be a likely misspelling.
std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);
/// "; did you mean 'x'?" for the nearest candidate, or "; known: a, b, c" where none is near.
std::string SuggestionFor(std::string_view word, const std::vector<std::string>& candidates);
/// Valid UTF-8: every invalid byte XX is replaced by the four characters "\xXX". Valid text is
/// unchanged.
std::string SanitizeUtf8(std::string_view text);
/// For a terminal: SanitizeUtf8, and control characters other than newline and tab as "\xXX".
std::string Printable(std::string_view text);

}  // namespace dlbench
