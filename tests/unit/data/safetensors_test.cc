#include "data/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "temporary_folder.h"

namespace dlbench::data {
namespace {

using testing::HasSubstr;

// A file with this header, as long as it is, and `data_bytes` zeros behind it.
std::string FileOf(const std::string& header, std::size_t data_bytes) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>((header.size() >> shift) & 0xFF);
  }
  return file + header + std::string(data_bytes, '\0');
}

std::string ErrorOf(const std::string& file) {
  const auto content = ParseSafetensors(std::as_bytes(std::span(file.data(), file.size())));
  return content.ok() ? "" : content.error().message();
}

std::string Entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string ErrorOfEntry(const std::string& entry, std::size_t data_bytes = 8) {
  return ErrorOf(FileOf(R"({"w":)" + entry + "}", data_bytes));
}

class SafetensorsTest : public TemporaryFolderTest {};

TEST_F(SafetensorsTest, WhatIsWrittenIsRead) {
  std::vector<float> values(6);
  std::iota(values.begin(), values.end(), 0.5F);
  const std::vector<std::int32_t> labels = {3, -1};
  const std::vector<TensorView> tensors = {
      ViewOf("w\"\n\xC3\xA9", {2, 3}, std::span<const float>(values)),
      ViewOf("labels", {2}, std::span<const std::int32_t>(labels)),
      ViewOf("empty", {0, 5}, std::span<const float>())};
  const auto path = folder_ / "a.safetensors";
  ASSERT_TRUE(WriteSafetensors(path, tensors, {{"key", "value"}}).ok());
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->tensors().size(), 3U);
  const TensorView* w = file->Find("w\"\n\xC3\xA9");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(w->count(), 6);
  EXPECT_THAT(w->f32(), testing::ElementsAreArray(values));
  EXPECT_THAT(file->Find("labels")->i32(), testing::ElementsAreArray(labels));
  EXPECT_EQ(file->Find("empty")->count(), 0);
  EXPECT_EQ(file->Find("nothing"), nullptr);
  EXPECT_EQ(file->metadata().at("key"), "value");
}

TEST_F(SafetensorsTest, TensorsStayValidWhenTheFileObjectMoves) {
  const std::vector<float> values = {1.5F};
  const std::vector<TensorView> tensors = {ViewOf("w", {1}, std::span<const float>(values))};
  ASSERT_TRUE(WriteSafetensors(folder_ / "a", tensors).ok());
  auto file = SafetensorsFile::Open(folder_ / "a");
  const SafetensorsFile moved = std::move(*file);
  EXPECT_EQ(moved.Find("w")->f32()[0], 1.5F);
}

TEST_F(SafetensorsTest, DataAtAnOddAddressAreStillReadable) {
  // A header of odd length, as writers that do not pad leave it.
  std::string header = R"({"w":)" + Entry("F32", "[1]", "[0,4]") + "}";
  if (header.size() % 2 == 0) header += " ";
  std::string bytes = FileOf(header, 0);
  const float value = 2.5F;
  bytes.append(reinterpret_cast<const char*>(&value), 4);
  const auto file = SafetensorsFile::Open(Put("odd", bytes));
  ASSERT_TRUE(file.ok()) << file.error().message();
  const auto view = file->Find("w")->f32();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data()) % 4, 0U);
  EXPECT_EQ(view[0], 2.5F);
}

TEST_F(SafetensorsTest, WriterRefusesWhatItCouldNotReadBack) {
  const std::vector<float> values = {1, 2};
  const TensorView w = ViewOf("w", {2}, std::span<const float>(values));
  EXPECT_FALSE(WriteSafetensors(folder_ / "a", std::vector{w, w}).ok());
  const TensorView wrong = ViewOf("w", {3}, std::span<const float>(values));
  const auto status = WriteSafetensors(folder_ / "a", std::vector{wrong});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(), HasSubstr("8 bytes do not fit the shape [3]"));
  const TensorView reserved = ViewOf("__metadata__", {2}, std::span<const float>(values));
  EXPECT_FALSE(WriteSafetensors(folder_ / "a", std::vector{reserved}).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
}

TEST_F(SafetensorsTest, OpenNamesTheFile) {
  const auto file = SafetensorsFile::Open(Put("bad.safetensors", "abc"));
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message(), HasSubstr("bad.safetensors'"));
  EXPECT_EQ(SafetensorsFile::Open(folder_ / "none").error().code(), ErrorCode::kNotFound);
}

TEST(SafetensorsHeader, WithoutTensorsIsValid) {
  EXPECT_EQ(ErrorOf(FileOf("{}", 0)), "");
  EXPECT_EQ(ErrorOf(FileOf(R"({"__metadata__":{"a":"b"}})", 0)), "");
}

TEST(SafetensorsHeader, LengthMustLieInTheFile) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a safetensors file"));
  EXPECT_THAT(ErrorOf("1234567"), HasSubstr("not a safetensors file"));
  EXPECT_THAT(ErrorOf(std::string(8, '\xFF') + "{}"), HasSubstr("cut short"));
  EXPECT_THAT(ErrorOf(FileOf("{}", 0).substr(0, 9)), HasSubstr("cut short"));
}

TEST(SafetensorsHeader, MustBeAJsonObject) {
  EXPECT_THAT(ErrorOf(FileOf("", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf(FileOf("{", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf(FileOf("{} x", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf(FileOf("[]", 0)), HasSubstr("not a JSON object"));
  EXPECT_THAT(ErrorOf(FileOf("{\"\xFF\":1}", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf(FileOf(std::string(100000, '['), 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf(FileOf(R"({"__metadata__":[]})", 0)), HasSubstr("__metadata__"));
  EXPECT_THAT(ErrorOf(FileOf(R"({"__metadata__":{"a":1}})", 0)), HasSubstr("not a text"));
}

TEST(SafetensorsHeader, NamesAreUnique) {
  const std::string entry = Entry("F32", "[1]", "[0,4]");
  EXPECT_THAT(ErrorOf(FileOf(R"({"w":)" + entry + R"(,"w":)" + entry + "}", 4)),
              HasSubstr("the name 'w' twice"));
  EXPECT_THAT(ErrorOf(FileOf(R"({"w":{"dtype":"F32","dtype":"F32"}})", 4)), HasSubstr("twice"));
}

TEST(SafetensorsHeader, EntriesAreChecked) {
  EXPECT_EQ(ErrorOfEntry(Entry("F32", "[2]", "[0,8]")), "");
  EXPECT_THAT(ErrorOfEntry("3"), HasSubstr("not an object"));
  EXPECT_THAT(ErrorOfEntry("{}"), HasSubstr("no 'dtype'"));
  EXPECT_THAT(ErrorOfEntry(Entry("F8_E4M3", "[8]", "[0,8]")), HasSubstr("F8_E4M3"));
  EXPECT_THAT(ErrorOfEntry(R"({"dtype":"F32"})"), HasSubstr("'shape'"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[-2]", "[0,8]")), HasSubstr("whole number"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[2.0]", "[0,8]")), HasSubstr("whole number"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[18446744073709551615]", "[0,8]")),
              HasSubstr("whole number"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[2]", "[0]")), HasSubstr("data_offsets"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[2]", "[-1,8]")), HasSubstr("data_offsets"));
}

TEST(SafetensorsHeader, SizesThatOverflowAreRefused) {
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[4294967296,4294967296]", "[0,0]"), 0),
              HasSubstr("more than any file"));
  EXPECT_THAT(ErrorOfEntry(Entry("F64", "[4611686018427387904]", "[0,0]"), 0),
              HasSubstr("more than any file"));
}

TEST(SafetensorsHeader, OffsetsMustFitShapeAndFile) {
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[3]", "[0,12]")), HasSubstr("do not lie in the file's 8"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[2]", "[8,0]")), HasSubstr("do not lie"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[1]", "[0,8]")), HasSubstr("needs 4 bytes, it has 8"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[1]", "[4,8]")), HasSubstr("unused bytes"));
  EXPECT_THAT(ErrorOfEntry(Entry("F32", "[1]", "[0,4]")), HasSubstr("4 trailing bytes"));
}

TEST(SafetensorsHeader, TensorsMustNotOverlap) {
  const std::string header =
      R"({"a":)" + Entry("F32", "[2]", "[0,8]") + R"(,"b":)" + Entry("F32", "[2]", "[4,12]") + "}";
  EXPECT_THAT(ErrorOf(FileOf(header, 12)), HasSubstr("tensor 'b': it overlaps"));
}

}  // namespace
}  // namespace dlbench::data
