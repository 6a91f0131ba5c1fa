#include "core/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace dlbench {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("dlbench_file_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_;
};

TEST_F(FileTest, AtomicWriteReplacesTheWholeFileAndLeavesNothingBeside) {
  const auto path = folder_ / "a.txt";
  ASSERT_TRUE(WriteFileAtomically(path, "first").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "second").ok());
  EXPECT_EQ(*ReadFile(path), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, AtomicWriteIntoAMissingFolderNamesTheFile) {
  const Status status = WriteFileAtomically(folder_ / "none" / "a.txt", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("a.txt"), std::string::npos);
}

TEST_F(FileTest, FilesOverTheLimitAreRefused) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "a", std::string(1000, 'x')).ok());
  EXPECT_FALSE(ReadFile(folder_ / "a", 999).ok());
  EXPECT_TRUE(ReadFile(folder_ / "a", 1000).ok());
}

TEST_F(FileTest, PathsMayNotLeaveTheirFolder) {
  EXPECT_TRUE(PathInside(folder_, "sub/a.bin").ok());
  EXPECT_FALSE(PathInside(folder_, "../a.bin").ok());
  EXPECT_FALSE(PathInside(folder_, "sub/../../a.bin").ok());
  EXPECT_FALSE(PathInside(folder_, "/etc/passwd").ok());
  EXPECT_FALSE(PathInside(folder_, "").ok());
  std::filesystem::create_directory_symlink("/etc", folder_ / "link");
  EXPECT_FALSE(PathInside(folder_, "link/passwd").ok());
}

TEST_F(FileTest, MissingFilesAreNotFoundAndFoldersAreNotFiles) {
  EXPECT_EQ(MappedFile::Open(folder_ / "none").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(folder_).error().code(), ErrorCode::kInput);
}

}  // namespace
}  // namespace dlbench
