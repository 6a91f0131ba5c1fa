#include <fstream>

#include "core/file.h"
#include "core/text.h"
#include "session_fixture.h"
#include "worker/environment.h"

namespace dlbench::worker {
namespace {

using testing::Contains;
using testing::HasSubstr;

class SessionTest : public SessionFixture {};

TEST_F(SessionTest, AnHonestAdapterIsLedThroughAWholeLaunch) {
  const auto session = Start({});
  const auto hello = session->SayHello();
  ASSERT_TRUE(hello.ok()) << hello.failure().message;
  EXPECT_EQ(hello->framework, "fake");
  EXPECT_EQ(hello->mode_labels.at("default"), "eager");
  const auto prepared = session->Prepare(Request());
  ASSERT_TRUE(prepared.ok()) << prepared.failure().message;
  EXPECT_EQ(prepared->batch, 8);
  VerifyRequest verify;
  verify.folder = "verify-0";
  verify.batches = {0, 1};
  verify.learning_rates = {0.1, 0.1};
  verify.weights_after = {1};
  const auto verified = session->Verify(verify);
  ASSERT_TRUE(verified.ok()) << verified.failure().message;
  EXPECT_EQ(verified->weights.at(1), folder_ / "weights-1");
  RunRequest run;
  run.steps = 20;
  const auto ran = session->Run(run);
  ASSERT_TRUE(ran.ok()) << ran.failure().message;
  EXPECT_EQ(ran->records.size(), 20U);
  EXPECT_LE(ran->request_ns, ran->records.front().begin_ns);
  EXPECT_GE(ran->reply_ns, ran->records.back().end_ns);
  EXPECT_GT(ran->cpu_seconds, 0.0);
  EXPECT_TRUE(session->Sync().ok());
  const auto exported = session->Export("state-0");
  ASSERT_TRUE(exported.ok()) << exported.failure().message;
  EXPECT_TRUE(exported->velocity.has_value());
  const auto finished = session->Finish();
  ASSERT_TRUE(finished.ok()) << finished.failure().message;
  EXPECT_EQ(finished->peak_memory_bytes, 123U);
  EXPECT_GT(finished->observed_peak_bytes, 0U);
  EXPECT_EQ(finished->exit_problem, std::nullopt);
  EXPECT_FALSE(session->Sync().ok());
}

TEST_F(SessionTest, AProgramThatIsNotThereIsASpawnFailureWithItsPath) {
  LaunchSpec spec = Spec({});
  spec.argv = {"/nowhere/adapter"};
  const auto session = Session::Start(spec, clock_, &interrupted_);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.failure().kind, FailureKind::kSpawnFailed);
  EXPECT_THAT(session.failure().message, HasSubstr("/nowhere/adapter"));
  EXPECT_THAT(session.failure().message, HasSubstr("No such file"));
}

TEST_F(SessionTest, ATextWithoutAFirstLineIsASpawnFailureThatSaysSo) {
  const auto script = folder_ / "script";
  std::ofstream(script) << "echo hello\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  LaunchSpec spec = Spec({});
  spec.argv = {script.string()};
  const auto session = Session::Start(spec, clock_, &interrupted_);
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.failure().message, HasSubstr("#! line"));
}

TEST_F(SessionTest, TheAdapterHasOnlyItsDescriptorsAndItsFolderAndItsEnvironment) {
  const UniqueFd secret(::dup(0));  // Inheritable, as a careless library would leave it.
  LaunchSpec spec = Spec({});
  spec.argv = {"/bin/sh", "-c",
               "ls /proc/self/fd > fds; readlink /proc/self/fd/0 > stdin; env > environment; "
               "ps -o pid= -o pgid= -o sid= -p $$ > ids 2>/dev/null; exit 7"};
  spec.environment["GIVEN"] = "yes";
  spec.threads = 3;
  spec.padding_bytes = 17;
  ASSERT_EQ(::setenv("DLBENCH_TEST_SECRET", "x", 1), 0);
  const auto session = StartSpec(spec);
  EXPECT_EQ(session->padding_bytes(), 17U);
  EXPECT_EQ(session->SayHello().failure().exit_status, 7);
  // ls opens one more for the listing, 5; sh may keep a copy at 10 or above of none.
  EXPECT_EQ(*ReadFile(folder_ / "fds"), "0\n1\n2\n3\n4\n5\n");
  EXPECT_EQ(*ReadFile(folder_ / "stdin"), "/dev/null\n");
  const auto environment = Split(*ReadFile(folder_ / "environment"), '\n');
  EXPECT_THAT(environment, Contains("GIVEN=yes"));
  EXPECT_THAT(environment, Contains("OMP_NUM_THREADS=3"));
  EXPECT_THAT(environment, Contains("LC_ALL=C.UTF-8"));
  EXPECT_THAT(environment, Contains("DLBENCH_PADDING=" + std::string(17, 'x')));
  EXPECT_THAT(environment, Contains("DLBENCH_FOLDER=" + folder_.string()));
  EXPECT_THAT(environment, testing::Not(Contains("DLBENCH_TEST_SECRET=x")));
}

TEST_F(SessionTest, UnsupportedLeavesTheAdapterAliveForAnotherQuestion) {
  const auto session =
      Start({"prepare:error:\"kind\":\"unsupported\",\"message\":\"op lrn is not built\""});
  const Failure failure = PrepareFailure(*session);
  EXPECT_EQ(failure.kind, FailureKind::kUnsupported);
  EXPECT_THAT(failure.message, HasSubstr("op lrn is not built"));
  EXPECT_TRUE(session->Sync().ok());
}

TEST_F(SessionTest, AnyRequestCanBeAskedAndItsLineReadAsItCame) {
  const auto session = Start({"poem:line:{\"id\":@ID@,\"type\":\"verse\",\"x\":1}"});
  const auto line = session->Ask(R"({"type":"poem"})", "verse");
  ASSERT_TRUE(line.ok()) << line.failure().message;
  EXPECT_EQ(*line, "{\"id\":1,\"type\":\"verse\",\"x\":1}");
  EXPECT_EQ(session->Ask(R"({"type":"other"})", "verse").failure().kind, FailureKind::kUnsupported);
  EXPECT_FALSE(session->Ask("[1]", "").ok());
}

/// The answer of two blocks of each kind, in that order.
std::string ObserverOrder(const std::string& order, const std::string& bare,
                          const std::string& protocol) {
  return R"(observer:line:{"id":@ID@,"type":"observed","order":")" + order + R"(","bare_ns":[)" +
         bare + R"(],"protocol_ns":[)" + protocol + "]}";
}

TEST_F(SessionTest, ObserverBlocksAreReadInTheOrderInWhichTheyRan) {
  const auto session = Start({ObserverOrder("bppb", "10,12", "11,13")});
  const auto observed = session->Observe({2, 3, 1});
  ASSERT_TRUE(observed.ok()) << observed.failure().message;
  EXPECT_EQ(observed->order, "bppb");
  EXPECT_EQ(observed->bare_ns, (std::vector<std::int64_t>{10, 12}));
  EXPECT_EQ(observed->protocol_ns, (std::vector<std::int64_t>{11, 13}));
}

TEST_F(SessionTest, ObserverBlocksThatCannotBeAreRefused) {
  const auto message_of = [this](const std::string& answer) {
    const auto observed = Start({answer})->Observe({2, 3, 1});
    return observed.ok() ? "accepted" : observed.failure().message;
  };
  EXPECT_THAT(message_of(ObserverOrder("bppb", "10", "11,13")), HasSubstr("'bare_ns' has 1 times"));
  EXPECT_THAT(message_of(ObserverOrder("bppb", "10,12", "11,0")), HasSubstr("not positive"));
  EXPECT_THAT(message_of(ObserverOrder("bppp", "10,12", "11,13")), HasSubstr("2 times each"));
  EXPECT_THAT(message_of(ObserverOrder("bppbx", "10,12", "11,13")), HasSubstr("2 times each"));
  const std::string century = "3155760000000000000";
  EXPECT_THAT(message_of(ObserverOrder("bppb", "10,12", century + "," + century)),
              HasSubstr("more than the time from request to reply"));
}

TEST_F(SessionTest, AnAdapterWithoutAnObserverLivesOn) {
  const auto session = Start({});
  EXPECT_EQ(session->Observe({2, 3, 1}).failure().kind, FailureKind::kUnsupported);
  EXPECT_TRUE(session->Sync().ok());
}

TEST_F(SessionTest, RequestsLargerThanThePipeArrive) {
  for (int i = 0; i < 20'000; ++i) {
    network::Node node = network_.nodes.front();
    node.name = "a node with a rather long name, number " + std::to_string(i);
    network_.nodes.push_back(node);
  }
  const auto session = Start({});
  const auto prepared = session->Prepare(Request());
  ASSERT_TRUE(prepared.ok()) << prepared.failure().message;
}

TEST_F(SessionTest, PaddingIsDrawnWithinAPage) {
  EXPECT_LT(RandomPadding(), kMostPadding);
  EXPECT_LT(Start({})->padding_bytes(), kMostPadding);
}

}  // namespace
}  // namespace dlbench::worker
