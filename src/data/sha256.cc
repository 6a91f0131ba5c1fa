#include "data/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace dlbench::data {
namespace {

// FIPS 180-4, 4.2.2: first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// FIPS 180-4, 6.2.2 step 1: the message schedule of one block.
std::array<std::uint32_t, 64> Schedule(const std::byte* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t t = 0; t < 16; ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      words[t] = (words[t] << 8) | std::to_integer<std::uint32_t>(block[4 * t + i]);
    }
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t a = words[t - 15];
    const std::uint32_t b = words[t - 2];
    const std::uint32_t sigma0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
    const std::uint32_t sigma1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
    words[t] = sigma1 + words[t - 7] + sigma0 + words[t - 16];
  }
  return words;
}

}  // namespace

// FIPS 180-4, 5.3.3: square roots of the first 8 primes.
Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::Compress(const std::byte* block) {
  const auto words = Schedule(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t first = h + sum1 + choice + kRoundConstants[t] + words[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + sum0 + majority;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += added[i];
}

void Sha256::Add(std::span<const std::byte> bytes) {
  total_bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (pending_bytes_ == 0 && bytes.size() >= kBlockBytes) {
      Compress(bytes.data());
      bytes = bytes.subspan(kBlockBytes);
      continue;
    }
    const std::size_t taken = std::min(kBlockBytes - pending_bytes_, bytes.size());
    std::memcpy(pending_.data() + pending_bytes_, bytes.data(), taken);
    pending_bytes_ += taken;
    bytes = bytes.subspan(taken);
    if (pending_bytes_ == kBlockBytes) {
      Compress(pending_.data());
      pending_bytes_ = 0;
    }
  }
}

void Sha256::Add(std::string_view text) {
  Add(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

std::string Sha256::Finish() {
  // FIPS 180-4, 5.1.1: a 1 bit, zeros, and the length in bits as 64 bits, big-endian.
  const std::uint64_t bits = total_bytes_ * 8;
  const std::byte one{0x80};
  const std::byte zero{0};
  Add(std::span(&one, 1));
  while (pending_bytes_ != kBlockBytes - 8) Add(std::span(&zero, 1));
  std::array<std::byte, 8> length{};
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  Add(length);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 15];
  }
  return text;
}

std::string Sha256Hex(std::string_view text) {
  Sha256 hash;
  hash.Add(text);
  return hash.Finish();
}

}  // namespace dlbench::data
