#include "worker/log_capture.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace dlbench::worker {
namespace {

class LogCaptureTest : public testing::Test {
 protected:
  LogCaptureTest()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("dlbench_log_" + std::to_string(::getpid()))) {}
  ~LogCaptureTest() override { std::filesystem::remove(path_); }
  std::string Written(LogCapture& log) {
    log.Close();
    return *ReadFile(path_);
  }
  const std::filesystem::path path_;
};

TEST_F(LogCaptureTest, ShortOutputIsKeptWhole) {
  auto log = LogCapture::Open(path_, 20);
  log->Append("0123456789");
  log->Append("abcdefghij");
  EXPECT_EQ(log->Tail(20, 100), "0123456789abcdefghij");
  EXPECT_EQ(Written(*log), "0123456789abcdefghij");
}

TEST_F(LogCaptureTest, LongOutputKeepsBothEndsAndSaysHowMuchIsMissing) {
  auto log = LogCapture::Open(path_, 20);
  log->Append("0123456789first-lost");
  for (int i = 0; i < 100; ++i) log->Append("middle");
  log->Append("z");
  log->Append("abcdefghij");
  EXPECT_EQ(log->total_bytes(), 631U);
  EXPECT_EQ(Written(*log), "0123456789\n[dlbench left out 611 bytes here]\nabcdefghij");
}

TEST_F(LogCaptureTest, TheFirstHalfIsOnDiskBeforeTheEnd) {
  auto log = LogCapture::Open(path_, 20);
  log->Append("0123456789tail");
  EXPECT_EQ(*ReadFile(path_), "0123456789");
}

TEST_F(LogCaptureTest, TailGivesTheLastLines) {
  auto log = LogCapture::Open(path_, 1000);
  EXPECT_EQ(log->Tail(2, 100), "");
  log->Append("one\ntwo\nthree\nfour\n");
  EXPECT_EQ(log->Tail(2, 100), "three\nfour");
  EXPECT_EQ(log->Tail(9, 100), "one\ntwo\nthree\nfour");
  EXPECT_EQ(log->Tail(2, 6), "e\nfour");
  log->Append("\n");
  EXPECT_EQ(log->Tail(1, 100), "four");
}

TEST_F(LogCaptureTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_FALSE(LogCapture::Open(path_ / "none" / "log", 10).ok());
}

}  // namespace
}  // namespace dlbench::worker
