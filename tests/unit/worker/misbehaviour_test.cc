#include "core/file.h"
#include "session_fixture.h"

namespace dlbench::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// One misbehaviour at `prepare` and what must come of it.
struct Misbehaviour {
  std::string name;
  std::vector<std::string> orders;
  FailureKind kind;
  std::string message;  ///< Part of it.
};

void PrintTo(const Misbehaviour& misbehaviour, std::ostream* stream) {
  *stream << misbehaviour.name;
}

class MisbehaviourTest : public SessionFixture, public testing::WithParamInterface<Misbehaviour> {};

TEST_P(MisbehaviourTest, IsATypedFailureInPlainWords) {
  LaunchSpec spec = Spec(GetParam().orders);
  spec.limits.terminate_grace = std::chrono::milliseconds(20);
  const auto session = StartSpec(spec);
  const Failure failure = PrepareFailure(*session);
  EXPECT_EQ(ToString(failure.kind), ToString(GetParam().kind)) << failure.message;
  EXPECT_THAT(failure.message, AllOf(HasSubstr("prepare: "), HasSubstr(GetParam().message)));
  const auto again = session->Sync();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.failure().message, failure.message);
}

std::string Prepared(const std::string& batch, const std::string& precision) {
  return "prepare:fields:\"batch\":" + batch + ",\"precision\":" + precision + ",\"threads\":1";
}

const std::vector<Misbehaviour>& Misbehaviours() {
  using K = FailureKind;
  static const std::vector<Misbehaviour> all = {
      {"Garbage", {"prepare:line:%PDF-1.4 hello"}, K::kProtocolError, "not JSON"},
      {"EmptyLine", {"prepare:line:"}, K::kProtocolError, "not JSON"},
      {"NoObject", {"prepare:line:[1,2]"}, K::kProtocolError, "not a JSON object"},
      {"HalfALineThenExit",
       {"prepare:raw:{\"id\":2,", "prepare:exit:0"},
       K::kProtocolError,
       "in the middle of its answer, after 8 bytes: {\"id\":2,"},
      {"LongLine", {"prepare:long-line:17"}, K::kProtocolError, "longer than 16777216 bytes"},
      {"EndlessLine", {"prepare:long-line:1024"}, K::kProtocolError, "longer than 16777216 bytes"},
      {"WrongId",
       {"prepare:line:{\"id\":7,\"type\":\"prepared\"}"},
       K::kProtocolError,
       "id 7, the request had 2"},
      {"WrongType",
       {"prepare:line:{\"id\":2,\"type\":\"hello\"}"},
       K::kProtocolError,
       "type is 'hello', not 'prepared'"},
      {"Nested", {"prepare:line:" + std::string(100, '[')}, K::kProtocolError, "nested deeper"},
      {"TwoLines",
       {"prepare:raw:{\"id\":2,\"type\":\"error\"}\n{\"id\":3}\n"},
       K::kProtocolError,
       "no request had asked for: {\"id\":3}"},
      {"UnknownErrorKind", {"prepare:error:\"kind\":\"tired\""}, K::kProtocolError, "'tired'"},
      {"AdapterFailed",
       {"prepare:error:\"kind\":\"failed\",\"message\":\"no cuda\""},
       K::kAdapterFailed,
       "no cuda"},
      {"AdapterOutOfMemory",
       {"prepare:error:\"kind\":\"out_of_memory\",\"message\":\"4 GB\""},
       K::kOutOfMemory,
       "4 GB"},
      {"Crash", {"prepare:signal:11"}, K::kCrashed, "signal 11 (Segmentation fault)"},
      {"CrashInALine",
       {"prepare:raw:{\"id\"", "prepare:signal:6"},
       K::kCrashed,
       "signal 6 (Aborted) in the middle of its answer"},
      {"Exit", {"prepare:exit:3"}, K::kExited, "exited with status 3 before it had answered"},
      {"ClosedReply",
       {"prepare:close-reply", "prepare:hang"},
       K::kProtocolError,
       "closed its reply descriptor"},
      {"MissingField",
       {"prepare:fields:\"batch\":8,\"threads\":1"},
       K::kProtocolError,
       "no field 'precision'"},
      {"WrongFieldType",
       {Prepared("\"8\"", "\"float32\"")},
       K::kProtocolError,
       "'batch' must be an integer of at least 0, not \"8\""},
      {"HugeInteger", {Prepared("1e400", "\"float32\"")}, K::kProtocolError, "usable JSON"},
      {"NotANumber", {Prepared("NaN", "\"float32\"")}, K::kProtocolError, "not null"}};
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, MisbehaviourTest, testing::ValuesIn(Misbehaviours()),
                         [](const auto& tested) { return tested.param.name; });

class C14 : public SessionFixture {};
TEST_F(C14, ABatchThatWasNotAppliedIsRefusedWithBothSizes) {
  const auto session = Start({Prepared("1", "\"float32\"")});
  const Failure failure = PrepareFailure(*session);
  EXPECT_EQ(failure.kind, FailureKind::kWrongResult);
  EXPECT_THAT(failure.message, HasSubstr("batch 8 not applied: the adapter built 1"));
}

class C43 : public SessionFixture {};
TEST_F(C43, Float64InAFloat32RunIsRefused) {
  const auto session = Start({Prepared("8", "\"float64\"")});
  const Failure failure = PrepareFailure(*session);
  EXPECT_EQ(failure.kind, FailureKind::kWrongResult);
  EXPECT_THAT(failure.message, AllOf(HasSubstr("float32 not applied"), HasSubstr("float64")));
}

class C65 : public SessionFixture {};
TEST_F(C65, ACrashCarriesItsSignalAndLastLinesAndTheNextLaunchIsWell) {
  {
    const auto session = Start({"prepare:stderr:first\nlast words\n", "prepare:signal:11"});
    const Failure failure = PrepareFailure(*session);
    EXPECT_EQ(failure.kind, FailureKind::kCrashed);
    EXPECT_EQ(failure.signal, 11);
    EXPECT_EQ(failure.exit_status, std::nullopt);
    EXPECT_THAT(failure.log_tail, HasSubstr("stderr (last lines):\nfirst\nlast words"));
  }
  const auto next = Start({});
  EXPECT_TRUE(next->SayHello().ok());
  EXPECT_TRUE(next->Prepare(Request()).ok());
}

class C67 : public SessionFixture {};
TEST_F(C67, AnErrorTextWithEveryKindOfCharacterIsOnePrintableMessageWithAMark) {
  const std::string text = R"(a\nb\tc\"d\\e\u0000f\u001b[31m)" + std::string(100'000, 'x');
  // Longer than one argument may be is cut by the kernel at 128 KiB: this one fits.
  const auto session = Start({"prepare:error:\"kind\":\"failed\",\"message\":\"" + text + "\""});
  const Failure failure = PrepareFailure(*session);
  EXPECT_THAT(failure.message, HasSubstr("a\nb\tc\"d\\e\\x00f\\x1b[31mxxx"));
  EXPECT_THAT(failure.message, HasSubstr("bytes cut]"));
  EXPECT_LT(failure.message.size(), 10'000U);
}

class C68 : public SessionFixture {};
TEST_F(C68, InvalidUtf8InAReplyIsMendedAndTheNumbersStand) {
  const auto session = Start({std::string("prepare:fields:\"batch\":8,\"precision\":\"float32\",") +
                              "\"threads\":1,\"effective_settings\":{\"host\":\"a\xFF b\"}"});
  ASSERT_TRUE(session->SayHello().ok());
  const auto prepared = session->Prepare(Request());
  ASSERT_TRUE(prepared.ok()) << prepared.failure().message;
  EXPECT_EQ(prepared->batch, 8);
  EXPECT_EQ(prepared->effective_settings.at("host"), "a\\xff b");
}

class UnaskedTest : public SessionFixture {};
TEST_F(UnaskedTest, ALineWrittenBeforeAnyRequestIsFound) {
  const auto session = Start({"start:line:{\"id\":1,\"type\":\"hello\"}", "hello:hang"});
  const auto hello = session->SayHello();
  ASSERT_FALSE(hello.ok());
  EXPECT_EQ(hello.failure().kind, FailureKind::kProtocolError) << hello.failure().message;
}

class FilesTest : public SessionFixture {};
TEST_F(FilesTest, NamesThatLeaveTheFolderOrNameNothingAreRefused) {
  const auto leaving = Start({R"(export:fields:"weights":"../weights")"});
  EXPECT_EQ(leaving->Export("s").failure().kind, FailureKind::kProtocolError);
  const auto absolute = Start({R"(export:fields:"weights":"/etc/passwd")"});
  EXPECT_EQ(absolute->Export("s").failure().kind, FailureKind::kProtocolError);
  const auto missing = Start({R"(export:fields:"weights":"none")"});
  const auto exported = missing->Export("s");
  EXPECT_EQ(exported.failure().kind, FailureKind::kWrongResult);
  EXPECT_THAT(exported.failure().message, HasSubstr("'none', which was not written"));
}

}  // namespace
}  // namespace dlbench::worker
