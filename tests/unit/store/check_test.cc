#include <gmock/gmock.h>

#include "store_fixture.h"

namespace dlbench::store {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Check : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    for (std::int64_t round = 0; round < 3; ++round) {
      LaunchRow launch = GoodLaunch(campaign_, configuration_, round);
      launch.request_ns = 500;
      launch.reply_ns = 1'000'000'000;
      ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
    }
    ASSERT_TRUE(store_->AddLaunch(CrashedLaunch(campaign_, configuration_, 3), std::nullopt).ok());
  }
  std::vector<std::string> After(const std::string& sql) {
    EXPECT_EQ(Sql(sql), "");
    return *store_->CheckFigures();
  }
};

TEST_F(Check, CountsWhatItDerivedAndFindsNothing) {
  const auto check = store_->CheckAll();
  ASSERT_TRUE(check.ok()) << check.error().message();
  EXPECT_EQ(check->launches, 4);
  EXPECT_EQ(check->figures, 3 * 8);
  EXPECT_THAT(check->disagreements, IsEmpty());
}

TEST_F(Check, PercentilesThatAreAbsentAreNoFigures) {
  LaunchRow launch = GoodLaunch(campaign_, configuration_, 9);
  launch.records = {{10, 1000, 2000}};
  launch.summary.reset();
  ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
  EXPECT_EQ(store_->CheckAll()->figures, 3 * 8 + 6);
}

TEST_F(Check, BlocksFormedInAnotherWayAreDerivedInThatWay) {
  LaunchRow launch = GoodLaunch(campaign_, configuration_, 9);
  launch.summary = measure::Summarize(launch.records, 1, 1);
  ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
  EXPECT_THAT(*store_->CheckFigures(), IsEmpty());
}

class EveryFigure : public Check, public testing::WithParamInterface<const char*> {};

TEST_P(EveryFigure, ThatWasChangedIsReportedWithBothValues) {
  const std::string figure = GetParam();
  EXPECT_THAT(After("UPDATE launch SET " + figure + " = " + figure + " * 2 WHERE id = 2"),
              ElementsAre(AllOf(HasSubstr("launch 2 (campaign 1, round 1)"), HasSubstr(figure),
                                HasSubstr("its records give"))));
}

TEST_P(EveryFigure, ThatWasRemovedIsReported) {
  const std::string figure = GetParam();
  EXPECT_THAT(After("UPDATE launch SET " + figure + " = NULL WHERE id = 2"),
              ElementsAre(HasSubstr(figure + " is stored as nothing")));
}

INSTANTIATE_TEST_SUITE_P(Figures, EveryFigure,
                         testing::Values("median_step_seconds", "mean_step_seconds",
                                         "min_step_seconds", "max_step_seconds", "p95_step_seconds",
                                         "p99_step_seconds", "steps", "blocks"));

TEST_F(Check, SlightChangeIsSeen) {
  EXPECT_THAT(After("UPDATE launch SET mean_step_seconds = mean_step_seconds * (1 + 1e-9)"),
              SizeIs(3));
}

TEST_F(Check, ChangedRecordIsSeen) {
  EXPECT_THAT(After("UPDATE launch SET records = substr(records, 1, 380) WHERE id = 1"),
              testing::Not(IsEmpty()));
}

using C64Check = Check;
TEST_F(C64Check, HalfARecordIsReportedWithItsLaunch) {
  EXPECT_THAT(After("UPDATE launch SET records = CAST(substr(records, 1, 390) AS BLOB)"
                    " WHERE id = 1"),
              ElementsAre(AllOf(HasSubstr("launch 1 "), HasSubstr("torn"))));
  const auto launches = store_->Launches(campaign_);
  ASSERT_TRUE(launches.ok()) << launches.error().message();
  ASSERT_THAT(*launches, SizeIs(4));
  EXPECT_EQ(launches->front().status, "damaged");
  EXPECT_THAT(launches->front().reason, HasSubstr("launch 1 are torn"));
  EXPECT_FALSE(launches->front().summary.has_value());
  EXPECT_EQ(launches->at(1).status, "done");
}

TEST_F(Check, RecordsOfAFailedLaunchAreReported) {
  EXPECT_THAT(After("UPDATE launch SET status = 'crashed' WHERE id = 1"),
              ElementsAre(HasSubstr("'timed' and 'crashed', but holds records")));
}

TEST_F(Check, RecordsOfAnUnequalLaunchAreReported) {
  EXPECT_THAT(After("INSERT INTO verification VALUES (1, 'full', 'unequal', 1, '', '', '[]')"),
              ElementsAre(HasSubstr("the gate found it unequal, but it holds records")));
}

TEST_F(Check, DoneLaunchWithoutRecordsIsReported) {
  EXPECT_THAT(After("UPDATE launch SET records = NULL WHERE id = 1"),
              ElementsAre(HasSubstr("holds no records"), HasSubstr("figures without records")));
}

TEST_F(Check, RecordsLongerThanTheTimeSeenFromOutsideAreReported) {
  EXPECT_THAT(After("UPDATE launch SET reply_ns = 1000000 WHERE id = 1"),
              ElementsAre(HasSubstr("request and reply")));
}

TEST_F(Check, RecordsThatRunBackwardsAreReported) {
  EXPECT_THAT(After("UPDATE launch SET records = CAST(substr(records, 21, 20) ||"
                    " substr(records, 1, 20) AS BLOB) WHERE id = 1"),
              testing::Not(IsEmpty()));
}

TEST_F(Check, RowsThatReferToNothingAreReported) {
  EXPECT_THAT(After("DELETE FROM campaign"), ElementsAre(HasSubstr("rows that are gone")));
}

}  // namespace
}  // namespace dlbench::store
