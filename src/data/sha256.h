#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dlbench::data {

/// SHA-256 (FIPS 180-4) of bytes added piece by piece; used as the identity of data and files.
class Sha256 {
 public:
  Sha256();
  void Add(std::span<const std::byte> bytes);
  void Add(std::string_view text);
  /// The elements' bytes as they lie in memory (little-endian: see tensor.cc).
  template <class T>
  void AddElements(std::span<const T> elements) {
    Add(std::as_bytes(elements));
  }
  /// Ends the message: 64 lower-case hexadecimal digits. The object is not used further.
  std::string Finish();

 private:
  static constexpr std::size_t kBlockBytes = 64;
  void Compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_;
  std::array<std::byte, kBlockBytes> pending_{};
  std::size_t pending_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

/// SHA-256 of one piece, as hexadecimal digits.
std::string Sha256Hex(std::string_view text);

}  // namespace dlbench::data
