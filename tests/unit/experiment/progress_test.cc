#include "experiment/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace dlbench::experiment {
namespace {

class SetClock final : public Clock {
 public:
  std::int64_t MonotonicNs() override { return now_ns; }
  std::string CalendarLabel() override { return ""; }
  std::int64_t now_ns = 0;
};

TEST(ProgressTest, PlainLinesTellHowFarAndHowLong) {
  std::ostringstream out;
  SetClock clock;
  Progress progress(out, clock, Progress::Style::kPlain);
  progress.Begin(4);
  progress.Launching("a");
  progress.Done();
  clock.now_ns = 100'000'000'000;
  progress.Launching("b");
  EXPECT_EQ(out.str(), "[1/4] a\n[2/4, 5 min 0 s left] b\n");
}

TEST(ProgressTest, ATerminalHasOneLineThatGoesAndNotesThatStay) {
  std::ostringstream out;
  SetClock clock;
  {
    Progress progress(out, clock, Progress::Style::kTerminal);
    progress.Begin(2);
    progress.Launching("first");
    progress.Note("said");
    progress.Launching("x");
  }
  EXPECT_EQ(out.str(), "[1/2] first\r           \rsaid\n[1/2] x\r       \r");
}

TEST(ProgressTest, ALineIsCutToTheTerminalSoThatItCanBeOverwritten) {
  std::ostringstream out;
  SetClock clock;
  Progress progress(out, clock, Progress::Style::kTerminal, 10);
  progress.Begin(1);
  progress.Launching("\u00e9\u00e9\u00e9\u00e9");  // Two bytes, one column each.
  EXPECT_EQ(out.str(), "[1/1] \u00e9\u00e9\u00e9");
}

TEST(ProgressTest, SilentSaysNothing) {
  std::ostringstream out;
  SetClock clock;
  Progress progress(out, clock, Progress::Style::kSilent);
  progress.Begin(1);
  progress.Launching("a");
  progress.Note("b");
  EXPECT_EQ(out.str(), "");
}

TEST(ProgressTest, ForeignTextCannotSteerTheTerminal) {
  std::ostringstream out;
  SetClock clock;
  Progress progress(out, clock, Progress::Style::kPlain);
  progress.Note("\x1b[2J");
  EXPECT_EQ(out.str(), "\\x1b[2J\n");
}

}  // namespace
}  // namespace dlbench::experiment
