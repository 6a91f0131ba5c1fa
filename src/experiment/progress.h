#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/clock.h"

namespace dlbench::experiment {

/// Tells a person how far a campaign is: one line that is overwritten on a terminal, plain lines in
/// a pipe.
class Progress {
 public:
  enum class Style { kSilent, kPlain, kTerminal };

  /// `out` and `clock` must outlive it. `columns`: of the terminal, where known (else 0); a longer
  /// line is cut, since one that wraps could not be overwritten.
  Progress(std::ostream& out, Clock& clock, Style style, std::size_t columns = 0)
      : out_(out), clock_(clock), style_(style), columns_(columns) {}
  ~Progress() { Clear(); }

  /// A line that stays: what is being done, what was found.
  void Note(const std::string& text);
  /// Work of known size begins: `launches` launches.
  void Begin(std::int64_t launches);
  /// One launch of the work begins; shows the time left once it can be told.
  void Launching(const std::string& label);
  /// The launch that was begun is done.
  void Done();
  /// Takes the overwritten line away.
  void Clear();

 private:
  std::string TimeLeft() const;

  std::ostream& out_;
  Clock& clock_;
  const Style style_;
  const std::size_t columns_;
  std::int64_t total_ = 0, done_ = 0;
  std::int64_t start_ns_ = 0;
  std::size_t shown_ = 0;
};

}  // namespace dlbench::experiment
