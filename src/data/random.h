#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace dlbench::data {

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
/// 2011): a function of (counter, key) without state, equal on every machine.
std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// The random numbers of one named tensor: element i depends on (seed, name, i) alone. The seed is
/// Philox's key, the name's FNV-1a hash (64 bits) the upper half of its counter. Use a stream for
/// one kind of draw only: Bits and Below of the same stream share their bits.
class NamedStream {
 public:
  NamedStream(std::uint64_t seed, std::string_view name);
  /// 32 random bits of element `index`: word index mod 4 of block index / 4.
  std::uint32_t Bits(std::uint64_t index) const;
  /// Fills `out` with the bits of elements first, first + 1 ...
  void FillBits(std::uint64_t first, std::span<std::uint32_t> out) const;
  /// An unbiased integer in [0, bound) for element `index`; bound > 0. 64 bits of block `index`,
  /// modulo the bound; draws that would favour small results are drawn again from another block.
  std::uint64_t Below(std::uint64_t index, std::uint64_t bound) const;
  /// Fills `out` with uniform float32 in (-bound, bound): bound * (2k + 1 - 2^24) / 2^24 with the
  /// integer k of the upper 24 bits; computed in float64 and rounded once.
  void FillUniform(std::span<float> out, double bound) const;

 private:
  std::array<std::uint32_t, 4> Block(std::uint64_t block) const;

  std::array<std::uint32_t, 2> key_;
  std::uint64_t name_hash_;
};

}  // namespace dlbench::data
