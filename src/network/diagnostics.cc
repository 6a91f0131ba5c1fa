#include "network/diagnostics.h"

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace dlbench::network {
namespace {

/// More than a person corrects in one go.
constexpr std::size_t kShown = 20;

}  // namespace

void Diagnostics::Add(Position position, const std::string& what) {
  Line line{position, Locate(file_name_, position, Printable(what))};
  const bool known = std::any_of(lines_.begin(), lines_.end(),
                                 [&](const Line& other) { return other.text == line.text; });
  if (!known) lines_.push_back(std::move(line));
}

Error Diagnostics::ToError() const {
  std::vector<Line> sorted = lines_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Line& a, const Line& b) {
    return std::pair(a.position.line, a.position.column) <
           std::pair(b.position.line, b.position.column);
  });
  std::vector<std::string> texts;
  for (const Line& line : sorted) {
    if (texts.size() == kShown) {
      texts.push_back("and " + std::to_string(sorted.size() - kShown) + " more");
      break;
    }
    texts.push_back(line.text);
  }
  return Error(ErrorCode::kInput, Join(texts, "\n"));
}

}  // namespace dlbench::network
