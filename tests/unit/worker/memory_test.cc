#include <sys/resource.h>

#include <fstream>

#include "core/file.h"
#include "session_fixture.h"
#include "worker/process_session.h"

namespace dlbench::worker {
namespace {

using testing::HasSubstr;

class C66 : public SessionFixture {
 protected:
  static constexpr std::uint64_t kLimit = 256ULL << 20;

  LaunchSpec Limited(const std::vector<std::string>& orders) const {
    LaunchSpec spec = Spec(orders);
    spec.limits.memory_bytes = kLimit;
    spec.limits.terminate_grace = std::chrono::milliseconds(20);
    return spec;
  }
  Failure Prepared(const LaunchSpec& spec, SystemView view) {
    auto session = ProcessSession::Start(spec, clock_, &interrupted_, std::move(view));
    return session.ok() ? PrepareFailure(**session) : session.failure();
  }
};

TEST_F(C66, OverTheLimitIsOutOfMemoryAndTheNextLaunchIsUnaffected) {
  const Failure failure =
      Prepared(Limited({"prepare:allocate:400", "prepare:hang"}), {std::nullopt, [] { return 0; }});
  EXPECT_EQ(failure.kind, FailureKind::kOutOfMemory) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("256 MiB allowed"));
  const auto next = StartSpec(Limited({}));
  EXPECT_TRUE(next->SayHello().ok());
  EXPECT_TRUE(next->Prepare(Request()).ok());
}

TEST_F(C66, ExceedingTheLimitBetweenTwoLooksIsSeenAtTheAnswer) {
  const Failure failure =
      Prepared(Limited({"prepare:allocate:300"}), {std::nullopt, [] { return 0; }});
  EXPECT_EQ(failure.kind, FailureKind::kOutOfMemory) << failure.message;
}

TEST_F(C66, AKillThatTheGroupsEventFileExplainsIsOutOfMemory) {
  // The files of a cgroup in an ordinary folder; the kernel would write the event and the signal.
  const auto parent = folder_ / "group";
  std::filesystem::create_directories(parent);
  auto session = ProcessSession::Start(Limited({"prepare:signal:9"}), clock_, &interrupted_,
                                       {parent, [] { return 0; }});
  ASSERT_TRUE(session.ok());
  const std::filesystem::directory_iterator group(parent);
  ASSERT_NE(group, std::filesystem::directory_iterator());
  EXPECT_EQ(*ReadFile(group->path() / "memory.max"), std::to_string(kLimit));
  EXPECT_EQ(*ReadFile(group->path() / "cgroup.procs"), "0");
  std::ofstream(group->path() / "memory.events") << "max 12\noom 1\noom_kill 1\n";
  const Failure failure = PrepareFailure(**session);
  EXPECT_EQ(failure.kind, FailureKind::kOutOfMemory) << failure.message;
  EXPECT_EQ(failure.signal, 9);
  EXPECT_THAT(failure.message, HasSubstr("killed it at the memory limit of 256 MiB"));
}

TEST_F(C66, AKillWhileTheKernelKilledForMemoryIsOutOfMemory) {
  std::uint64_t kills = 0;
  const Failure failure =
      Prepared(Limited({"prepare:signal:9"}), {std::nullopt, [&] { return kills++; }});
  EXPECT_EQ(failure.kind, FailureKind::kOutOfMemory) << failure.message;
}

TEST_F(C66, AKillThatNothingExplainsIsACrash) {
  const Failure failure = Prepared(Limited({"prepare:signal:9"}), {std::nullopt, [] { return 5; }});
  EXPECT_EQ(failure.kind, FailureKind::kCrashed);
}

TEST_F(C66, AnExitWithoutAnAnswerIsNoResult) {
  const Failure failure = Prepared(Limited({"prepare:exit:0"}), {std::nullopt, [] { return 0; }});
  EXPECT_EQ(failure.kind, FailureKind::kExited);
  EXPECT_THAT(failure.message, HasSubstr("no result"));
}

}  // namespace
}  // namespace dlbench::worker
