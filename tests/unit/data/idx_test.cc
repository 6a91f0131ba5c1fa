#include "data/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset.h"
#include "idx_fixture.h"
#include "temporary_folder.h"

namespace dlbench::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Result<IdxContent> Parse(const std::string& bytes, IdxKind kind = IdxKind::kImages) {
  return ParseIdx(std::as_bytes(std::span(bytes.data(), bytes.size())), kind);
}

std::string ErrorOf(const std::string& bytes, IdxKind kind = IdxKind::kImages) {
  const auto content = Parse(bytes, kind);
  return content.ok() ? "" : content.error().message();
}

class C60 : public TemporaryFolderTest {
 protected:
  std::string Load(const std::string& images_name, const std::string& images) {
    const auto dataset =
        LoadIdx(Put(images_name, images), Put("train-labels-idx1-ubyte", TinyLabels()));
    if (!dataset.ok()) return dataset.error().message();
    EXPECT_EQ(dataset->sample_shape, (network::Shape{2, 2}));
    EXPECT_EQ(dataset->pixels, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    EXPECT_EQ(dataset->labels, (std::vector<std::int32_t>{7, 0, 9}));
    return "loaded";
  }
};

TEST_F(C60, RawAndGzipLoadByContentWhateverTheName) {
  EXPECT_EQ(Load("raw", TinyImages()), "loaded");
  EXPECT_EQ(Load("zipped.gz", Gzip(TinyImages())), "loaded");
  EXPECT_EQ(Load("zipped", Gzip(TinyImages())), "loaded");
  EXPECT_EQ(Load("raw.gz", TinyImages()), "loaded");
}

TEST_F(C60, ErrorsNameTheFileAndTheFault) {
  EXPECT_THAT(Load("swapped", LittleEndian(2051) + TinyImages().substr(4)),
              AllOf(HasSubstr("swapped'"), HasSubstr("byte order swapped"), HasSubstr("50855936")));
  EXPECT_THAT(Load("labels", TinyLabels()), AllOf(HasSubstr("labels'"), HasSubstr("labels file")));
}

TEST_F(C60, GzipThatCannotBeReadSaysSo) {
  const std::string zipped = Gzip(TinyImages());
  EXPECT_THAT(Load("cut.gz", zipped.substr(0, zipped.size() - 9)),
              AllOf(HasSubstr("gzip data, expected IDX"), HasSubstr("cut short")));
  std::string damaged = zipped;
  damaged[zipped.size() - 6] = static_cast<char>(damaged[zipped.size() - 6] ^ 1);  // checksum
  EXPECT_THAT(Load("damaged.gz", damaged), HasSubstr("gzip data, expected IDX"));
  EXPECT_THAT(Load("twice.gz", Gzip(zipped)),
              AllOf(HasSubstr("gzip data, expected IDX"), HasSubstr("twice")));
  EXPECT_THAT(Load("rest.gz", zipped + "x"), HasSubstr("trailing bytes"));
}

TEST(Idx, SeveralGzipMembersAreOneFile) {
  const std::string images = TinyImages();
  const auto content = Parse(Gzip(images.substr(0, 10)) + Gzip(images.substr(10)));
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->bytes, images.substr(16));
}

TEST(Idx, ImagesGivenAsLabelsAreNamed) {
  EXPECT_THAT(ErrorOf(TinyImages(), IdxKind::kLabels), HasSubstr("images file"));
  EXPECT_THAT(ErrorOf(LittleEndian(2049) + BigEndian(0), IdxKind::kLabels),
              HasSubstr("byte order swapped"));
}

TEST(Idx, EveryShorterFileIsCutShort) {
  for (const std::string& whole : {TinyImages(), Gzip(TinyImages())}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THAT(ErrorOf(whole.substr(0, size)), HasSubstr("cut short")) << size;
    }
  }
}

TEST(Idx, TrailingBytesAreRefused) {
  EXPECT_THAT(ErrorOf(TinyImages() + "x"), HasSubstr("trailing bytes after the 12"));
  EXPECT_THAT(ErrorOf(Gzip(TinyImages() + "x")), HasSubstr("trailing bytes after the 12"));
}

TEST(Idx, HugeAndEmptySizesAreRefusedBeforeTheyAreRead) {
  const std::string magic = BigEndian(2051);
  const std::string huge = BigEndian(0xFFFFFFFF);
  EXPECT_THAT(ErrorOf(magic + huge + huge + huge), HasSubstr("more than 1 GiB"));
  EXPECT_THAT(ErrorOf(magic + BigEndian(1U << 31) + BigEndian(2) + BigEndian(1U << 31)),
              HasSubstr("more than 1 GiB"));
  EXPECT_THAT(ErrorOf(magic + BigEndian(0) + BigEndian(28) + BigEndian(28)), HasSubstr("no data"));
  // A gigabyte announced, nothing there: an error without a gigabyte of memory.
  EXPECT_THAT(ErrorOf(magic + BigEndian(1U << 20) + BigEndian(32) + BigEndian(32)),
              HasSubstr("cut short"));
}

TEST(Idx, CompressedDataBeyondTheirHeaderAreNotUnpacked) {
  EXPECT_THAT(ErrorOf(Gzip(TinyImages() + std::string(100U << 20, '\0'))),
              HasSubstr("trailing bytes"));
}

TEST(Idx, OtherFilesAreNotIdx) {
  EXPECT_THAT(ErrorOf("PNG... and so on"), HasSubstr("not an IDX file"));
  EXPECT_THAT(ErrorOf(BigEndian(0x0D03) + TinyImages()), HasSubstr("not an IDX file"));  // float
}

}  // namespace
}  // namespace dlbench::data
