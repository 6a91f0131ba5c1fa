#include "data/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "idx_fixture.h"
#include "temporary_folder.h"

namespace dlbench::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kPlane = 32 * 32;

std::string Record(int label, int red, int green, int blue) {
  std::string record(1, static_cast<char>(label));
  record += std::string(kPlane, static_cast<char>(red));
  record += std::string(kPlane, static_cast<char>(green));
  record += std::string(kPlane, static_cast<char>(blue));
  return record;
}

Result<CifarContent> Parse(const std::string& bytes) {
  return ParseCifar10(std::as_bytes(std::span(bytes)));
}

std::string ErrorOf(const std::string& bytes) {
  const auto content = Parse(bytes);
  return content.ok() ? "" : content.error().message();
}

TEST(C62, TheFirstPixelFollowsTheOneLabel) {
  std::string record(1, 7);
  for (std::size_t i = 0; i < 3 * kPlane; ++i) record += static_cast<char>(i % 256);
  const auto content = Parse(record + record);
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->records, 2);
  EXPECT_EQ(content->labels, std::string("\7\7"));
  EXPECT_EQ(content->pixels[0], 0);
  EXPECT_EQ(content->pixels[1], 1);
  EXPECT_EQ(content->pixels[3 * kPlane + 2], 2);
}

TEST(C62, RecordsWithTwoLabelsAreRefused) {
  EXPECT_THAT(ErrorOf(std::string(3074, '\1')),
              AllOf(HasSubstr("no multiple of a record's 3073"), HasSubstr("CIFAR-100")));
}

// 3073 x 3074 bytes would fit both formats; the labels then tell.
TEST(C62, ALabelAboveNineIsNamedWithItsRecord) {
  const std::string bytes = Record(9, 0, 0, 0) + Record(10, 0, 0, 0);
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("label 10 of record 1 is out of range"));
}

TEST(Cifar, WhatIsNoBinaryVersionIsNamed) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no data"));
  EXPECT_THAT(ErrorOf("\x80\x02}q"), HasSubstr("Python version"));
  EXPECT_THAT(ErrorOf(Record(1, 1, 1, 1).substr(1)), HasSubstr("3072 bytes are no multiple"));
}

class CifarFolderTest : public TemporaryFolderTest {
 protected:
  void PutAll(const std::string& under = "") const {
    for (int i = 1; i <= 5; ++i) {
      const std::string name = under + "data_batch_" + std::to_string(i) + ".bin";
      if (i == 3) {
        Put(name + ".gz", Gzip(Record(i, 10, 20, 30)));
      } else {
        Put(name, Record(i, 10, 20, 30));
      }
    }
  }
};
class C63 : public CifarFolderTest {};

TEST_F(C63, PlanesStayInTheOrderRedGreenBlue) {
  PutAll();
  const auto dataset = LoadCifar10Folder(folder_);
  ASSERT_TRUE(dataset.ok()) << dataset.error().message();
  EXPECT_EQ(dataset->sample_shape, (network::Shape{3, 32, 32}));
  EXPECT_EQ(dataset->samples, 5);
  EXPECT_EQ(dataset->labels, (std::vector<std::int32_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(dataset->pixels[0], 10);
  EXPECT_EQ(dataset->pixels[kPlane], 20);
  EXPECT_EQ(dataset->pixels[2 * kPlane], 30);
  EXPECT_EQ(dataset->pixels[3 * kPlane], 10);
}

TEST_F(CifarFolderTest, FindsTheFolderThatTheArchiveUnpacks) {
  std::filesystem::create_directories(folder_ / "cifar-10-batches-bin");
  PutAll("cifar-10-batches-bin/");
  const auto dataset = LoadCifar10Folder(folder_);
  ASSERT_TRUE(dataset.ok()) << dataset.error().message();
  EXPECT_EQ(dataset->samples, 5);
}

TEST_F(CifarFolderTest, NamesTheFileThatIsMissingOrDamaged) {
  PutAll();
  std::filesystem::remove(folder_ / "data_batch_4.bin");
  EXPECT_THAT(LoadCifar10Folder(folder_).error().message(), HasSubstr("data_batch_4.bin"));
  Put("data_batch_4", "\x80\x02");
  EXPECT_THAT(LoadCifar10Folder(folder_).error().message(), HasSubstr("Python version"));
  Put("data_batch_4.bin", Record(200, 0, 0, 0));
  EXPECT_THAT(LoadCifar10Folder(folder_).error().message(),
              AllOf(HasSubstr("data_batch_4.bin"), HasSubstr("label 200")));
  Put("data_batch_1.bin.gz", Gzip(Record(1, 0, 0, 0)));
  EXPECT_THAT(LoadCifar10Folder(folder_).error().message(), HasSubstr("ambiguous"));
}

}  // namespace
}  // namespace dlbench::data
