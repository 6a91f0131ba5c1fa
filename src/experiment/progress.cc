#include "experiment/progress.h"

#include <fmt/format.h>

#include <ostream>

#include "core/text.h"

namespace dlbench::experiment {
namespace {

/// The first `count` characters of valid UTF-8 text.
std::string FirstColumns(const std::string& text, std::size_t count) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    if (!continues && characters++ == count) return text.substr(0, i);
  }
  return text;
}

}  // namespace

void Progress::Note(const std::string& text) {
  if (style_ == Style::kSilent) return;
  Clear();
  out_ << Printable(text) << '\n' << std::flush;
}

void Progress::Begin(std::int64_t launches) {
  total_ = launches;
  done_ = 0;
  start_ns_ = clock_.MonotonicNs();
}

std::string Progress::TimeLeft() const {
  if (done_ == 0) return "";
  const double elapsed = static_cast<double>(clock_.MonotonicNs() - start_ns_) * 1e-9;
  const auto seconds = static_cast<std::int64_t>(elapsed / static_cast<double>(done_) *
                                                 static_cast<double>(total_ - done_));
  if (seconds < 60) return fmt::format(", {} s left", seconds);
  return fmt::format(", {} min {} s left", seconds / 60, seconds % 60);
}

void Progress::Launching(const std::string& label) {
  if (style_ == Style::kSilent) return;
  std::string line = fmt::format("[{}/{}{}] {}", done_ + 1, total_, TimeLeft(), Printable(label));
  if (style_ == Style::kPlain) {
    out_ << line << '\n' << std::flush;
    return;
  }
  Clear();
  if (columns_ > 1) line = FirstColumns(line, columns_ - 1);
  out_ << line << std::flush;
  shown_ = line.size();
}

void Progress::Done() { ++done_; }

void Progress::Clear() {
  if (shown_ == 0) return;
  out_ << '\r' << std::string(shown_, ' ') << '\r' << std::flush;
  shown_ = 0;
}

}  // namespace dlbench::experiment
