#include "data/random.h"

namespace dlbench::data {
namespace {

// Multipliers and Weyl constants of Philox4x32, table 2 and section 4.3 of the paper.
constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // golden ratio
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // sqrt(3) - 1
constexpr int kRounds = 10;

std::uint32_t Low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t High(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): short, and published with test values.
std::uint64_t Fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3ULL;
  }
  return hash;
}

}  // namespace

std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {High(product1) ^ counter[1] ^ key[0], Low(product1),
               High(product0) ^ counter[3] ^ key[1], Low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

NamedStream::NamedStream(std::uint64_t seed, std::string_view name)
    : key_{Low(seed), High(seed)}, name_hash_(Fnv1a(name)) {}

std::array<std::uint32_t, 4> NamedStream::Block(std::uint64_t block) const {
  return Philox4x32({Low(block), High(block), Low(name_hash_), High(name_hash_)}, key_);
}

std::uint32_t NamedStream::Bits(std::uint64_t index) const { return Block(index / 4)[index % 4]; }

void NamedStream::FillBits(std::uint64_t first, std::span<std::uint32_t> out) const {
  std::array<std::uint32_t, 4> block{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t index = first + i;
    if (i == 0 || index % 4 == 0) block = Block(index / 4);
    out[i] = block[index % 4];
  }
}

std::uint64_t NamedStream::Below(std::uint64_t index, std::uint64_t bound) const {
  // 2^64 mod bound: draws below it would make small results likelier and are drawn again.
  const std::uint64_t rejected = (0 - bound) % bound;
  NamedStream attempt = *this;
  while (true) {
    const auto block = attempt.Block(index);
    const std::uint64_t draw = (static_cast<std::uint64_t>(block[1]) << 32) | block[0];
    if (draw >= rejected) return draw % bound;
    attempt.name_hash_ += 0x9E3779B97F4A7C15ULL;
  }
}

void NamedStream::FillUniform(std::span<float> out, double bound) const {
  constexpr double kScale = 1.0 / 16777216.0;  // 2^-24: exact
  std::array<std::uint32_t, 4> block{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % 4 == 0) block = Block(i / 4);
    const auto k = static_cast<std::int64_t>(block[i % 4] >> 8);
    const auto odd = static_cast<double>(2 * k + 1 - (1 << 24));
    out[i] = static_cast<float>(bound * odd * kScale);
  }
}

}  // namespace dlbench::data
