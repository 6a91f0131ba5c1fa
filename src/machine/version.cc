#include "machine/version.h"

#include <algorithm>
#include <string>
#include <vector>

namespace dlbench::machine {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Runs of digits and runs of letters; every other character only separates. What follows '+' is
/// the build's name, which does not order versions.
std::vector<std::string> Parts(std::string_view version) {
  std::vector<std::string> parts;
  char previous = '.';
  for (const char c : version.substr(0, version.find('+'))) {
    if (IsDigit(c) || IsLetter(c)) {
      const bool same_run = IsDigit(c) ? IsDigit(previous) : IsLetter(previous);
      if (!same_run) parts.emplace_back();
      parts.back().push_back(c);
    }
    previous = c;
  }
  return parts;
}

/// Order of kinds of part: a letter run (a pre-release) < nothing < a number.
int Rank(const std::vector<std::string>& parts, std::size_t i) {
  if (i >= parts.size()) return 1;
  return IsLetter(parts[i][0]) ? 0 : 2;
}

std::strong_ordering CompareNumbers(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace

std::strong_ordering CompareVersions(std::string_view a, std::string_view b) {
  const std::vector<std::string> left = Parts(a);
  const std::vector<std::string> right = Parts(b);
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const int left_rank = Rank(left, i);
    const int right_rank = Rank(right, i);
    if (left_rank != right_rank) return left_rank <=> right_rank;
    const auto order =
        left_rank == 2 ? CompareNumbers(left[i], right[i]) : left[i].compare(right[i]) <=> 0;
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::string_view ShownVersion(std::string_view version) {
  return version.empty() ? "unknown" : version;
}

}  // namespace dlbench::machine
