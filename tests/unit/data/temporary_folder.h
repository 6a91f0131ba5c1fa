#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dlbench::data {

/// A test with an empty folder of its own, removed afterwards.
class TemporaryFolderTest : public testing::Test {
 protected:
  TemporaryFolderTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("dlbench_data_test_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TemporaryFolderTest() override { std::filesystem::remove_all(folder_); }

  /// Writes `content` under `name` in the folder.
  std::filesystem::path Put(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }

  const std::filesystem::path folder_;
};

}  // namespace dlbench::data
