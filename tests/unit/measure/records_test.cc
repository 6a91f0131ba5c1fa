#include <gmock/gmock.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "measure/measure.h"

namespace dlbench::measure {
namespace {

TEST(Records, LayoutIsLittleEndianAndTwentyBytes) {
  const std::vector<StepRecord> records{{0x01020304, 0x1112131415161718, -2}};
  const std::string expected{
      "\x04\x03\x02\x01"
      "\x18\x17\x16\x15\x14\x13\x12\x11"
      "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
      20};
  EXPECT_EQ(EncodeRecords(records), expected);
}

TEST(Records, RoundTripKeepsEveryBit) {
  std::mt19937_64 random(1);
  std::vector<StepRecord> records{
      {0, 0, 0},
      {std::numeric_limits<std::uint32_t>::max(), std::numeric_limits<std::int64_t>::min(),
       std::numeric_limits<std::int64_t>::max()}};
  for (int i = 0; i < 1000; ++i) {
    records.push_back({static_cast<std::uint32_t>(random()), static_cast<std::int64_t>(random()),
                       static_cast<std::int64_t>(random())});
  }
  EXPECT_EQ(DecodeRecords(EncodeRecords(records)), records);
}

TEST(Records, NoRecordsAreAnEmptyBlob) {
  EXPECT_EQ(EncodeRecords({}), "");
  EXPECT_EQ(DecodeRecords(""), std::vector<StepRecord>());
}

TEST(Records, TornBlobIsRefused) {
  const std::string blob = EncodeRecords(std::vector<StepRecord>(3, StepRecord{1, 2, 3}));
  for (std::size_t size = 0; size <= blob.size(); ++size) {
    EXPECT_EQ(DecodeRecords(blob.substr(0, size)).has_value(), size % 20 == 0) << size;
  }
}

}  // namespace
}  // namespace dlbench::measure
