#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/result.h"
#include "network/document.h"

namespace dlbench::network {

/// Collects the errors of one network file, so that all of them are told at once. A repeated group
/// says each only once.
class Diagnostics {
 public:
  explicit Diagnostics(std::string file_name) : file_name_(std::move(file_name)) {}

  /// Notes "FILE:LINE:COLUMN: what"; `what` ends with what to do. Control characters are escaped.
  void Add(Position position, const std::string& what);
  /// Number of different errors noted.
  std::size_t count() const { return lines_.size(); }
  bool ok() const { return lines_.empty(); }
  /// All errors as one, a line each, in the order of the file; at most 20 and the number of others.
  Error ToError() const;

 private:
  struct Line {
    Position position;
    std::string text;
  };
  std::string file_name_;
  std::vector<Line> lines_;
};

}  // namespace dlbench::network
