#include "data/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace dlbench::data {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Known answers of the paper's own library, Random123 (kat_vectors, philox4x32 10).
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(NamedStream, IsAFunctionOfSeedNameAndIndex) {
  const NamedStream stream(7, "fc1.weight");
  EXPECT_EQ(stream.Bits(123), NamedStream(7, "fc1.weight").Bits(123));
  EXPECT_NE(stream.Bits(123), NamedStream(8, "fc1.weight").Bits(123));
  EXPECT_NE(stream.Bits(123), NamedStream(7, "fc2.weight").Bits(123));
  EXPECT_NE(stream.Bits(123), stream.Bits(124));
  EXPECT_NE(stream.Bits(1), stream.Bits(1 + (1ULL << 34)));
  EXPECT_NE(NamedStream(1, "a").Bits(0), NamedStream(1 + (1ULL << 32), "a").Bits(0));
}

TEST(NamedStream, FillsTheBitsOfConsecutiveElements) {
  const NamedStream stream(7, "fc1.weight");
  for (std::uint64_t first = 0; first < 6; ++first) {
    std::vector<std::uint32_t> bits(9);
    stream.FillBits(first, bits);
    for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(bits[i], stream.Bits(first + i));
  }
}

TEST(NamedStream, HashesTheNameWithFnv1a) {
  // FNV-1a of "a" is af63dc4c8601ec8c (draft-eastlake-fnv): the upper half of the counter.
  const auto block = Philox4x32({5, 0, 0x8601ec8c, 0xaf63dc4c}, {9, 0});
  const NamedStream stream(9, "a");
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(stream.Bits(20 + i), block[i]);
}

TEST(NamedStream, BelowStaysBelowAndReachesEverything) {
  const NamedStream stream(3, "below");
  std::vector<int> counts(7);
  for (std::uint64_t i = 0; i < 70000; ++i) ++counts[stream.Below(i, 7)];
  // Five standard deviations of a binomial(70000, 1/7) count: 463.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 463);
  EXPECT_EQ(stream.Below(5, 1), 0U);
}

TEST(NamedStream, BelowIsUnbiasedForAHugeBound) {
  // With bound 3 * 2^62 a plain modulo would give the lowest third twice as often as the others.
  const NamedStream stream(3, "huge");
  constexpr std::uint64_t kThird = 1ULL << 62;
  int low = 0;
  for (std::uint64_t i = 0; i < 30000; ++i) low += stream.Below(i, 3 * kThird) < kThird ? 1 : 0;
  EXPECT_NEAR(low, 10000, 408);
}

TEST(NamedStream, UniformsHaveTheseBits) {
  std::vector<float> values(6);
  NamedStream(1, "fc1.weight").FillUniform(values, 0.1);
  // Computed by another implementation (whole-number Python), name hash and all.
  const std::vector<std::uint32_t> golden = {0x3d279152, 0xbdc449ac, 0x3d70be35,
                                             0xbc6ff606, 0x3d8fe112, 0xbd0a8708};
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), golden[i]) << i << ": " << values[i];
  }
}

TEST(NamedStream, UniformsFollowTheirFormula) {
  const NamedStream stream(1, "fc1.weight");
  std::vector<float> values(1001);
  stream.FillUniform(values, 0.25);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double k = stream.Bits(i) >> 8;
    EXPECT_EQ(values[i], static_cast<float>(0.25 * (2 * k + 1 - 16777216.0) / 16777216.0));
    EXPECT_LT(std::abs(values[i]), 0.25F);
    EXPECT_NE(values[i], 0.0F);
    sum += values[i];
  }
  EXPECT_NEAR(sum / 1001, 0.0, 5 * 0.25 / std::sqrt(3 * 1001.0));
}

}  // namespace
}  // namespace dlbench::data
