#pragma once

#include <cstddef>
#include <vector>

namespace dlbench::machine {

/// The triad of McCalpin's STREAM, a[i] = b[i] + s c[i], on `threads` threads, each with its own
/// part of the arrays, which it touches first.
class Triad {
 public:
  /// Three arrays of `bytes_each`; memory is touched here.
  Triad(int threads, std::size_t bytes_each);
  /// One pass; returns the bytes that it moved as STREAM counts them (two reads, one write).
  double Run();

 private:
  struct Part {
    std::vector<double> a, b, c;
  };
  std::vector<Part> parts_;
};

/// Bytes for each array: four times the last cache, within 64 and 256 MiB and a sixteenth of
/// memory.
std::size_t TriadBytes(std::size_t last_cache_bytes, std::size_t memory_bytes);

}  // namespace dlbench::machine
