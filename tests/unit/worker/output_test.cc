#include "core/file.h"
#include "core/text.h"
#include "session_fixture.h"
#include "worker/usage.h"

namespace dlbench::worker {
namespace {

using testing::HasSubstr;

std::uint64_t OwnBytes(const char* key) { return StatusBytes(*ReadFile("/proc/self/status"), key); }

class C71 : public SessionFixture {};
TEST_F(C71, EndlessPrintingIsBoundedCountedAndDoesNotHideTheAnswer) {
  const auto session =
      Start({"run:stdout:begin of stdout\n", "run:print:300", "run:stderr:\nend of stderr\n"});
  ASSERT_TRUE(session->SayHello().ok());
  RunRequest run;
  run.steps = 3;
  const std::uint64_t before = OwnBytes("VmRSS:");
  const auto ran = session->Run(run);
  ASSERT_TRUE(ran.ok()) << ran.failure().message;
  EXPECT_EQ(ran->records.size(), 3U);
  EXPECT_LT(OwnBytes("VmHWM:") - before, 100ULL << 20);
}

TEST_F(C71, FirstAndLastPartsAreKeptWithAMarkAndTheRestIsCounted) {
  const auto session =
      Start({"sync:stdout:begin of stdout\n", "sync:print:300", "sync:stderr:\nend of stderr\n"});
  const std::uint64_t before = OwnBytes("VmRSS:");
  ASSERT_TRUE(session->Sync().ok());
  const auto finished = session->Finish();
  ASSERT_TRUE(finished.ok()) << finished.failure().message;
  EXPECT_LT(OwnBytes("VmHWM:") - before, 100ULL << 20);
  EXPECT_EQ(finished->stdout_bytes, (150ULL << 20) + 16);
  EXPECT_EQ(finished->stderr_bytes, (150ULL << 20) + 15);
  const std::string out = *ReadFile(folder_ / "stdout.txt");
  const std::string err = *ReadFile(folder_ / "stderr.txt");
  EXPECT_EQ(out.compare(0, 16, "begin of stdout\n"), 0);
  EXPECT_THAT(out, HasSubstr("[dlbench left out"));
  EXPECT_LT(out.size(), (1U << 20) + 100U);
  EXPECT_EQ(err.substr(err.size() - 15), "\nend of stderr\n");
}

class C72 : public SessionFixture {};
TEST_F(C72, WhatLooksLikeResultsOnStdoutIsOnlyALog) {
  const std::string fake =
      "sync:stdout:WARNING loss=NaN\nsamples/s: 999\n{\"id\":1,\"type\":\"error\"}\n\n";
  const auto session = Start({fake});
  EXPECT_TRUE(session->Sync().ok());
  EXPECT_TRUE(session->Finish().ok());
  EXPECT_THAT(*ReadFile(folder_ / "stdout.txt"), HasSubstr("samples/s: 999"));
}

TEST_F(C72, AnEmptyResultShowsTheEndOfTheLog) {
  const auto session = Start({"sync:stderr:Traceback: x\n", "sync:exit:1"});
  const auto synced = session->Sync();
  ASSERT_FALSE(synced.ok());
  EXPECT_THAT(synced.failure().message, HasSubstr("no result"));
  EXPECT_THAT(synced.failure().log_tail, HasSubstr("Traceback: x"));
}

class C47 : public SessionFixture {};
TEST_F(C47, BusyThreadsAreCountedAndNamed) {
  LaunchSpec spec = Spec({"run:busy:4"});
  const auto session = StartSpec(spec);
  ASSERT_TRUE(session->SayHello().ok());
  RunRequest run;
  run.steps = 1;
  const auto ran = session->Run(run);
  ASSERT_TRUE(ran.ok()) << ran.failure().message;
  EXPECT_GE(ran->busy_threads, 4);
  EXPECT_THAT(Join(ran->busy_thread_names, ", "), HasSubstr("busy-pool x 4"));
  EXPECT_GE(ran->cpu_seconds, 4 * 0.06);
}

}  // namespace
}  // namespace dlbench::worker
