#include <signal.h>
#include <sys/wait.h>

#include <csignal>
#include <thread>

#include "core/file.h"
#include "core/text.h"
#include "session_fixture.h"

namespace dlbench::worker {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class EndingTest : public SessionFixture {
 protected:
  /// A limit that has passed by the second reading: no time is waited in earnest.
  static constexpr std::int64_t kLongAgo = 1'000'000'000'000;

  pid_t PidIn(const std::string& file) const {
    const auto text = ReadFile(folder_ / file);
    return text.ok() ? static_cast<pid_t>(ParseInt(Trim(*text)).value_or(0)) : 0;
  }
  static bool Exists(pid_t pid) { return ::kill(pid, 0) == 0; }
};

TEST_F(EndingTest, AnAdapterThatHangsAndIgnoresSigtermIsATimeoutAndIsGone) {
  BracketClock clock;
  clock.Set(0, kLongAgo);
  LaunchSpec spec = Spec({"hello:stubborn", "hello:hang"});
  spec.limits.terminate_grace = milliseconds(20);
  auto session = Session::Start(spec, clock, &interrupted_);
  ASSERT_TRUE(session.ok());
  const auto hello = (*session)->SayHello();
  ASSERT_FALSE(hello.ok());
  EXPECT_EQ(hello.failure().kind, FailureKind::kTimeout);
  EXPECT_THAT(hello.failure().message, HasSubstr("hello: no answer within 30 s"));
  EXPECT_EQ(hello.failure().signal, std::nullopt);  // Our SIGKILL is no fault of the adapter's.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);   // No child is left, not even a zombie.
}

TEST_F(EndingTest, AHalfLineBeforeAHangIsQuoted) {
  LaunchSpec spec = Spec({"hello:raw:{\"id\":", "hello:hang"});
  spec.limits.hello = milliseconds(50);
  const auto session = StartSpec(spec);
  EXPECT_THAT(session->SayHello().failure().message, HasSubstr("unfinished line"));
}

TEST_F(EndingTest, ADescendantThatHasLeftGroupSessionAndParentIsEndedToo) {
  pid_t escaped = 0;
  {
    LaunchSpec spec = Spec({"hello:escape:pid"});
    spec.limits.terminate_grace = milliseconds(20);
    const auto session = StartSpec(spec);
    ASSERT_TRUE(session->SayHello().ok());
    escaped = PidIn("pid");
    ASSERT_GT(escaped, 0);
    ASSERT_TRUE(Exists(escaped));
  }
  EXPECT_FALSE(Exists(escaped));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(EndingTest, ProcessesLeftBehindAtTheEndAreEndedAndNamed) {
  const auto session = Start({"sync:child"});
  ASSERT_TRUE(session->SayHello().ok());
  ASSERT_TRUE(session->Sync().ok());
  const auto finished = session->Finish();
  ASSERT_TRUE(finished.ok()) << finished.failure().message;
  ASSERT_TRUE(finished->exit_problem.has_value());
  EXPECT_THAT(*finished->exit_problem, HasSubstr("left processes behind"));
  EXPECT_THAT(*finished->exit_problem, HasSubstr("fake_adapter"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(EndingTest, ADescendantThatHoldsThePipesDoesNotHideTheEnd) {
  const auto session = Start({"hello:child", "hello:exit:5"});
  const auto hello = session->SayHello();
  ASSERT_FALSE(hello.ok());
  EXPECT_EQ(hello.failure().kind, FailureKind::kExited);
  EXPECT_EQ(hello.failure().exit_status, 5);
}

TEST_F(EndingTest, AnExitStatusAfterTheLastAnswerIsAProblemButLosesNothing) {
  const std::string answer = R"(finish:fields:"parameter_checksum":"crc32:00000000")";
  const auto session = Start({answer, "finish:exit:4"});
  const auto finished = session->Finish();
  ASSERT_TRUE(finished.ok()) << finished.failure().message;
  EXPECT_THAT(finished->exit_problem.value_or(""), HasSubstr("exited with status 4"));
  EXPECT_EQ(finished->parameter_checksum, "crc32:00000000");
}

TEST_F(EndingTest, NoEndAfterTheLastAnswerIsAProblemButLosesNothing) {
  LaunchSpec spec = Spec({R"(finish:fields:"parameter_checksum":"c")", "finish:hang"});
  spec.limits.end = milliseconds(20);
  spec.limits.terminate_grace = milliseconds(20);
  const auto finished = StartSpec(spec)->Finish();
  ASSERT_TRUE(finished.ok()) << finished.failure().message;
  EXPECT_THAT(finished->exit_problem.value_or(""), HasSubstr("had not ended"));
}

volatile std::sig_atomic_t g_signalled = 0;
void NoteSignal(int /*signal*/) { g_signalled = 1; }

TEST_F(EndingTest, ASignalOfTheUsersEndsTheWait) {
  struct sigaction action {};
  action.sa_handler = NoteSignal;
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  g_signalled = 0;
  // The adapter sends the signal itself, so that it comes during the wait.
  auto session = Session::Start(
      Spec({"hello:kill-parent:" + std::to_string(SIGUSR1), "hello:hang"}), clock_, &g_signalled);
  ASSERT_TRUE(session.ok());
  const auto hello = (*session)->SayHello();
  ::sigaction(SIGUSR1, &before, nullptr);
  ASSERT_FALSE(hello.ok());
  EXPECT_EQ(hello.failure().kind, FailureKind::kInterrupted);
}

TEST_F(EndingTest, TheAdapterDiesWithTheThreadThatStartedIt) {
  // In place of a killed dlbench: the kernel's rule is about the thread.
  std::unique_ptr<Session> session;
  std::thread starter([&] { session = Start({"hello:hang"}); });
  starter.join();
  const auto hello = session->SayHello();
  ASSERT_FALSE(hello.ok());
  EXPECT_EQ(hello.failure().signal, SIGKILL);
}

TEST_F(EndingTest, AnAdapterThatDiedBetweenRequestsIsNoticedAndNoSignalEndsUs) {
  const auto session = Start({R"(sync:fields:"ok":true)", "sync:exit:6"});
  ASSERT_TRUE(session->Sync().ok());
  const auto hello = session->SayHello();
  ASSERT_FALSE(hello.ok());
  EXPECT_EQ(hello.failure().kind, FailureKind::kExited);
  EXPECT_EQ(hello.failure().exit_status, 6);
}

}  // namespace
}  // namespace dlbench::worker
