#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dlbench_adapter.h"

namespace dlbench::adapter {
namespace {

TEST(SdkCrc, KnownValues) {
  EXPECT_EQ(Crc32(0, "", 0), 0U);
  EXPECT_EQ(Crc32(0, "123456789", 9), 0xCBF43926U);  // The check value of CRC-32/ISO-HDLC.
}

TEST(SdkCrc, AgreesWithZlibInPieces) {
  std::string bytes;
  std::uint64_t state = 1;
  for (int i = 0; i < 10000; ++i) bytes += static_cast<char>(SplitMix64(state));
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  const std::uint32_t whole = Crc32(0, bytes.data(), bytes.size());
  EXPECT_EQ(whole, crc32(0, data, static_cast<uInt>(bytes.size())));
  EXPECT_EQ(Crc32(Crc32(0, bytes.data(), 123), bytes.data() + 123, bytes.size() - 123), whole);
}

TEST(SdkObserver, OrderIsBalancedAndFixedBySeed) {
  const std::string order = ObserverOrder(50, 1);
  EXPECT_EQ(std::count(order.begin(), order.end(), 'b'), 50);
  EXPECT_EQ(std::count(order.begin(), order.end(), 'p'), 50);
  EXPECT_EQ(order, ObserverOrder(50, 1));
  EXPECT_NE(order, ObserverOrder(50, 2));
  EXPECT_EQ(ObserverOrder(5, 1), "bbpbpbbppp");  // As in Python.
}

/// A file image with this header and `body` bytes after it, aligned for float32.
std::vector<std::uint64_t> Image(std::string header, std::size_t body, std::size_t& size) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  size = 8 + header.size() + body;
  std::vector<std::uint64_t> image((size + 7) / 8);
  image[0] = header.size();
  std::memcpy(&image[1], header.data(), header.size());
  return image;
}

std::map<std::string, TensorView> ParseImage(const std::string& header, std::size_t body) {
  std::size_t size = 0;
  const std::vector<std::uint64_t> image = Image(header, body, size);
  return ParseSafetensors(reinterpret_cast<const std::byte*>(image.data()), size);
}

TEST(SdkSafetensors, HeadersAreRead) {
  const auto tensors = ParseImage(
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("e":{"dtype":"I32","shape":[0],"data_offsets":[8,8]}})",
      8);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors.at("a").shape, (Shape{2, 1}));
  EXPECT_EQ(tensors.at("a").bytes, 8U);
  EXPECT_EQ(tensors.at("e").bytes, 0U);
}

TEST(SdkSafetensors, WrongHeadersAreRefused) {
  const std::vector<std::string> entries = {
      R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[-8,0]})",
      R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[2],"data_offsets":[0]})",
      R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]})",
      R"({"dtype":"F32","shape":[1],"data_offsets":[1,5]})",
      R"({"dtype":"F99","shape":[2],"data_offsets":[0,8]})",
      R"({"shape":[2],"data_offsets":[0,8]})",
      R"([])"};
  for (const std::string& entry : entries) {
    EXPECT_THROW(ParseImage("{\"a\":" + entry + "}", 8), std::runtime_error) << entry;
  }
  const std::string good = R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  EXPECT_THROW(ParseImage("{\"a\":" + good + ",\"a\":" + good + "}", 8), std::runtime_error);
  const std::uint64_t too_long = 1000;
  EXPECT_THROW(ParseSafetensors(reinterpret_cast<const std::byte*>(&too_long), 8),
               std::runtime_error);
  EXPECT_THROW(ParseSafetensors(reinterpret_cast<const std::byte*>(&too_long), 7),
               std::runtime_error);
}

TEST(SdkSafetensors, WrittenFilesAreReadBack) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "sdk_safetensors" / "made";
  const std::string path = (folder / "a.safetensors").string();
  const auto ones = [](float* out) { std::fill_n(out, 4, 1.0F); };
  WriteSafetensors(path, {{"w", {2, 2}, ones}, {"b", {1}, [](float* out) { *out = 5.0F; }}});
  const SafetensorsFile file(path);
  const TensorView& bias = file.At("b", "F32", {1});
  EXPECT_EQ(*reinterpret_cast<const float*>(bias.data), 5.0F);
  EXPECT_THROW(file.At("w", "F32", {4}), std::runtime_error);
  EXPECT_THROW(file.At("w", "I32", {2, 2}), std::runtime_error);
  EXPECT_THROW(file.At("x", "F32", {1}), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  std::filesystem::remove_all(folder.parent_path());
  EXPECT_THROW(SafetensorsFile("/nonexistent/file"), std::runtime_error);
}

TEST(SdkSafetensors, AFileThatCannotBeCompletedIsNotLeft) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "sdk_partial";
  const std::string path = (folder / "a.safetensors").string();
  const auto fails = [](float* /*out*/) { throw Unsupported("no gradient of w"); };
  EXPECT_THROW(WriteSafetensors(path, {{"w", {2}, fails}}), Unsupported);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace dlbench::adapter
