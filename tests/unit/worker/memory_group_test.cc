#include "worker/memory_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace dlbench::worker {
namespace {

class MemoryGroupTest : public testing::Test {
 protected:
  MemoryGroupTest()
      : parent_(std::filesystem::path(testing::TempDir()) /
                ("dlbench_group_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(parent_);
  }
  ~MemoryGroupTest() override { std::filesystem::remove_all(parent_); }
  void Put(const std::string& file, const std::string& text) const {
    std::ofstream(parent_ / "group" / file) << text;
  }
  const std::filesystem::path parent_;
};

TEST_F(MemoryGroupTest, LimitAndSwapAreWritten) {
  const auto group = MemoryGroup::Create(parent_, "group", 1000);
  ASSERT_TRUE(group.has_value());
  EXPECT_EQ(*ReadFile(parent_ / "group" / "memory.max"), "1000");
  EXPECT_EQ(*ReadFile(parent_ / "group" / "memory.swap.max"), "0");
  EXPECT_GE(group->join_fd(), 0);
}

TEST_F(MemoryGroupTest, KillsAreReadFromTheEvents) {
  const auto group = MemoryGroup::Create(parent_, "group", 1000);
  EXPECT_EQ(group->OomKills(), 0U);
  Put("memory.events", "low 0\noom_kill_other 4\noom_kill 3\n");
  EXPECT_EQ(group->OomKills(), 3U);
  EXPECT_FALSE(group->PeakBytes().has_value());
  Put("memory.peak", "4096\n");
  EXPECT_EQ(group->PeakBytes(), 4096U);
}

TEST_F(MemoryGroupTest, WhereNoGroupCanBeMadeThereIsNone) {
  EXPECT_FALSE(MemoryGroup::Create(parent_ / "none", "group", 1000).has_value());
}

}  // namespace
}  // namespace dlbench::worker
