#include "worker/line_buffer.h"

#include <gtest/gtest.h>

namespace dlbench::worker {
namespace {

TEST(LineBufferTest, CutsLinesWhereverTheBytesAreCut) {
  LineBuffer buffer(100);
  buffer.Append("on");
  EXPECT_FALSE(buffer.TakeLine().has_value());
  buffer.Append("e\n\nthr");
  EXPECT_EQ(buffer.TakeLine(), "one");
  EXPECT_EQ(buffer.TakeLine(), "");
  EXPECT_FALSE(buffer.TakeLine().has_value());
  EXPECT_EQ(buffer.pending(), 3U);
  buffer.Append("ee\n");
  EXPECT_EQ(buffer.TakeLine(), "three");
  EXPECT_EQ(buffer.pending(), 0U);
}

TEST(LineBufferTest, ALineOfTheLimitPassesAndOneByteMoreDoesNot) {
  LineBuffer fits(4);
  fits.Append("1234\n");
  EXPECT_EQ(fits.TakeLine(), "1234");
  LineBuffer over(4);
  over.Append("12345\n");
  EXPECT_TRUE(over.too_long());
  EXPECT_FALSE(over.TakeLine().has_value());
  LineBuffer second(4);
  second.Append("1\n12345");
  EXPECT_EQ(second.TakeLine(), "1");
  EXPECT_TRUE(second.too_long());
}

TEST(LineBufferTest, HoldsNoMoreThanTheLimitOfAnEndlessLine) {
  LineBuffer buffer(1000);
  for (int i = 0; i < 100; ++i) buffer.Append(std::string(100, 'x'));
  EXPECT_TRUE(buffer.too_long());
  EXPECT_LE(buffer.bytes().size(), 1000U);
}

}  // namespace
}  // namespace dlbench::worker
