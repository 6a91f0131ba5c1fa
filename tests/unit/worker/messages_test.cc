#include "worker/messages.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace dlbench::worker {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kHello[] =
    R"({"id":1,"type":"hello","protocol":1,"framework":"f","framework_version":"2",)"
    R"("adapter_version":"1","language":"python","devices":["cpu"],"precisions":["float32"],)"
    R"("modes":["train"],"inputs":["resident"],"presets":["default"],"ops":["dense"],)"
    R"("asynchronous":false,"gradients":"none","learning_rate":"fixed"})";

std::string HelloWith(const std::string& key, const Json& value) {
  Json json = Json::parse(kHello);
  json[key] = value;
  return json.dump();
}

Failure HelloFailure(const std::string& line) {
  const auto hello = ParseHello(line, 1);
  EXPECT_FALSE(hello.ok()) << line;
  return hello.ok() ? Failure{} : hello.failure();
}

TEST(RequestsTest, EveryRequestIsOneLineOfTheProtocol) {
  EXPECT_EQ(Json::parse(HelloLine(1)), Json::parse(R"({"id":1,"type":"hello","protocol":1})"));
  PrepareRequest prepare;
  prepare.weights = "/a b/w\n.safetensors";
  prepare.batch = 64;
  prepare.settings = {{"key", "value"}};
  const std::string line = PrepareLine(2, prepare, "{\"name\":\n\"n\"}");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const Json json = Json::parse(line);
  EXPECT_EQ(json["network"]["name"], "n");
  EXPECT_EQ(json["weights"], "/a b/w\n.safetensors");
  EXPECT_EQ(json["settings"]["key"], "value");
  EXPECT_EQ(json["world_size"], 1);
  VerifyRequest verify;
  verify.batches = {0, 1};
  verify.learning_rates = {0.1, 0.05};
  EXPECT_EQ(Json::parse(VerifyLine(3, verify))["learning_rates"][1], 0.05);
  RunRequest run;
  run.steps = 7;
  EXPECT_EQ(Json::parse(RunLine(4, run))["steps"], 7);
  EXPECT_EQ(Json::parse(ExportLine(5, "state"))["folder"], "state");
  EXPECT_EQ(Json::parse(*RawLine(6, R"({"type":"x"})")), Json::parse(R"({"id":6,"type":"x"})"));
  EXPECT_FALSE(RawLine(6, "nonsense").ok());
}

TEST(HelloTest, OptionalFieldsMayBeAbsentAndUnknownOnesAreIgnored) {
  EXPECT_TRUE(ParseHello(kHello, 1).ok());
  EXPECT_TRUE(ParseHello(HelloWith("new", Json::array({1, "x"})), 1).ok());
  EXPECT_TRUE(ParseHello(HelloWith("mode_label", {{"default", "eager"}}), 1).ok());
}

TEST(HelloTest, AnotherProtocolIsUnsupportedWithAdvice) {
  const Failure failure = HelloFailure(HelloWith("protocol", 2));
  EXPECT_EQ(failure.kind, FailureKind::kUnsupported);
  EXPECT_THAT(failure.message, HasSubstr("install the framework again"));
}

TEST(HelloTest, EveryWrongFieldIsNamed) {
  EXPECT_THAT(HelloFailure(HelloWith("framework", 3)).message, HasSubstr("'framework'"));
  EXPECT_THAT(HelloFailure(HelloWith("framework", "")).message, HasSubstr("empty"));
  EXPECT_THAT(HelloFailure(HelloWith("devices", Json::array())).message, HasSubstr("'devices'"));
  EXPECT_THAT(HelloFailure(HelloWith("ops", "dense")).message, HasSubstr("'ops' must be a list"));
  EXPECT_THAT(HelloFailure(HelloWith("asynchronous", 1)).message, HasSubstr("true or false"));
  EXPECT_THAT(HelloFailure(HelloWith("gradients", "some")).message,
              HasSubstr("not one of step, none, separate"));
  EXPECT_THAT(HelloFailure(HelloWith("build", {{"blas", 1}})).message, HasSubstr("'build.blas'"));
  EXPECT_THAT(HelloFailure(HelloWith("language", std::string(5000, 'x'))).message,
              HasSubstr("5000 bytes"));
}

class RanTest : public testing::Test {
 protected:
  RanTest() { asked_.steps = 3; }
  Failure FailureOf(const std::string& fields) {
    const auto ran = ParseRan(R"({"id":4,"type":"ran",)" + fields + "}", 4, asked_, expected_);
    EXPECT_FALSE(ran.ok()) << fields;
    return ran.ok() ? Failure{} : ran.failure();
  }
  static std::string Fields(const std::string& steps, const std::string& losses) {
    const auto count = std::count(steps.begin(), steps.end(), ',') + 1;
    std::string begin, end;
    for (int i = 0; i < count; ++i) {
      begin += (i == 0 ? "" : ",") + std::to_string(10 * i);
      end += (i == 0 ? "" : ",") + std::to_string(10 * i + 10);
    }
    return "\"steps\":[" + steps + "],\"begin_ns\":[" + begin + "],\"end_ns\":[" + end +
           "],\"losses\":[" + losses + "]";
  }
  RunRequest asked_;
  Expectation expected_;
};

TEST_F(RanTest, RecordsAndLossesAreRead) {
  const auto ran = ParseRan("{\"id\":4,\"type\":\"ran\"," + Fields("1,1,1", "3,2.5,2e0") + "}", 4,
                            asked_, expected_);
  ASSERT_TRUE(ran.ok()) << ran.failure().message;
  EXPECT_EQ(ran->records[1].begin_ns, 10);
  EXPECT_EQ(ran->losses, (std::vector<double>{3.0, 2.5, 2.0}));
}

TEST_F(RanTest, AnAsynchronousAdapterCountsBlocksAndARest) {
  expected_.asynchronous = true;
  asked_.steps = 12;
  EXPECT_TRUE(
      ParseRan("{\"id\":4,\"type\":\"ran\"," + Fields("5,5,2", "1,1,1") + "}", 4, asked_, expected_)
          .ok());
  EXPECT_THAT(FailureOf(Fields("5,2,5", "1,1,1")).message, HasSubstr("blocks have 5"));
}

TEST_F(RanTest, ASynchronousAdapterMayNotJoinSteps) {
  EXPECT_THAT(FailureOf(Fields("2,1", "1,1")).message, HasSubstr("records have 1"));
}

TEST(C13, StepsNotAskedForAndStepsLeftOutAreRefusedWithBothNumbers) {
  RunRequest asked;
  asked.steps = 600;
  asked.block_steps = 60'000;
  Expectation expected;
  expected.asynchronous = true;
  const auto failure_of = [&](const std::string& count) {
    const std::string line = R"({"id":1,"type":"ran","steps":[)" + count +
                             R"(],"begin_ns":[0],"end_ns":[30000000000],"losses":[1]})";
    return ParseRan(line, 1, asked, expected).failure();
  };
  EXPECT_EQ(failure_of("60000").kind, FailureKind::kWrongResult);
  EXPECT_THAT(failure_of("60000").message,
              HasSubstr("asked for 600 steps, the answer counts 60000"));
  expected.asynchronous = false;
  EXPECT_EQ(failure_of("1").kind, FailureKind::kWrongResult);
  EXPECT_THAT(failure_of("1").message, HasSubstr("asked for 600 steps, the answer counts 1"));
}

TEST_F(RanTest, CountsThatCannotBeAreRefused) {
  EXPECT_THAT(FailureOf(Fields("1,0,1", "1,1,1")).message, HasSubstr("record 1 counts 0 steps"));
  EXPECT_THAT(FailureOf(Fields("1,-1,1", "1,1,1")).message, HasSubstr("counts -1 steps"));
  EXPECT_THAT(FailureOf(Fields("1,1.5,1", "1,1,1")).message, HasSubstr("must be an integer"));
  EXPECT_THAT(FailureOf(Fields("1,18446744073709551615,1", "1,1,1")).message,
              HasSubstr("must be an integer"));
  EXPECT_THAT(FailureOf(Fields("1,1,1", "1,1")).message, HasSubstr("different lengths"));
}

TEST_F(RanTest, ALossThatIsNotFiniteIsAWrongResultThatNamesTheStep) {
  for (const char* value : {"NaN", "Infinity", "-Infinity", "null"}) {
    const Failure failure = FailureOf(Fields("1,1,1", std::string("1,") + value + ",1"));
    EXPECT_EQ(failure.kind, FailureKind::kWrongResult) << value;
    EXPECT_THAT(failure.message, HasSubstr("the loss of step 1 is not a finite number"));
  }
  EXPECT_EQ(FailureOf(Fields("1,1,1", "1,\"x\",1")).kind, FailureKind::kProtocolError);
}

TEST_F(RanTest, NegativeTimesAreRefused) {
  const Failure failure = FailureOf(
      R"("steps":[1,1,1],"begin_ns":[-9223372036854775808,1,2],"end_ns":[1,2,3],"losses":[1,1,1])");
  EXPECT_EQ(failure.kind, FailureKind::kWrongResult);
  EXPECT_THAT(failure.message, HasSubstr("a time is negative"));
}

class C08 : public RanTest {};
TEST_F(C08, AConstantLossComesThroughForTheJudgesOfTheGate) {
  const auto ran = ParseRan("{\"id\":4,\"type\":\"ran\"," + Fields("1,1,1", "2,2,2") + "}", 4,
                            asked_, expected_);
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(ran->losses, (std::vector<double>{2.0, 2.0, 2.0}));
}

TEST(VerifiedTest, WhatWasAskedForMustBeThere) {
  VerifyRequest asked;
  asked.batches = {0, 1};
  asked.weights_after = {1};
  asked.gradients = false;
  asked.logits = false;
  Expectation expected;
  expected.folder = "/proc/self";  // Has regular files by known names.
  const auto parse = [&](const std::string& fields) {
    return ParseVerified(R"({"id":1,"type":"verified",)" + fields + "}", 1, asked, expected);
  };
  EXPECT_TRUE(parse(R"("losses":[1,2],"weights":{"1":"status"})").ok());
  EXPECT_THAT(parse(R"("losses":[1],"weights":{"1":"status"})").failure().message,
              HasSubstr("asked for 2 steps, got 1 losses"));
  EXPECT_THAT(parse(R"("losses":[1,2])").failure().message, HasSubstr("after 1 steps are missing"));
  EXPECT_THAT(parse(R"("losses":[1,2],"weights":{"1":"status","9":"status"})").failure().message,
              HasSubstr("'9' that was not asked for"));
  asked.logits = true;
  EXPECT_THAT(parse(R"("losses":[1,2],"weights":{"1":"status"})").failure().message,
              HasSubstr("no 'logits'"));
  asked.logits = false;
  asked.gradients = true;
  EXPECT_TRUE(parse(R"("losses":[1,2],"weights":{"1":"status"})").ok());
  expected.gradients = "step";
  EXPECT_THAT(parse(R"("losses":[1,2],"weights":{"1":"status"})").failure().message,
              HasSubstr("no 'gradients'"));
}

TEST(FinishedTest, TheChecksumIsRequiredAndMemoryIsNot) {
  EXPECT_TRUE(ParseFinished(R"({"id":1,"type":"finished","parameter_checksum":"c"})", 1).ok());
  EXPECT_FALSE(ParseFinished(R"({"id":1,"type":"finished"})", 1).ok());
  EXPECT_FALSE(
      ParseFinished(R"({"id":1,"type":"finished","parameter_checksum":"c","peak_memory_bytes":-1})",
                    1)
          .ok());
}

}  // namespace
}  // namespace dlbench::worker
