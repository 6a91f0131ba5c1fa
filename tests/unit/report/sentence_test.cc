#include "report/sentence.h"

#include <gmock/gmock.h>

#include "samples.h"

namespace dlbench::report {
namespace {

using measure::VerdictWord;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Report TwoArms(VerdictWord verdict, double a, double b, double half_width) {
  Report report = GoodReport();
  report.results = {TimedRow("onednn", a), TimedRow("pytorch", b)};
  report.comparisons = {Compared(report, 0, 1, verdict, half_width)};
  return report;
}

TEST(Sentence, SaysHowMuchFasterWithAnInterval) {
  EXPECT_EQ(BuildSentence(TwoArms(VerdictWord::kFaster, 0.0321, 0.0438165, 0.055)),
            "FCN-R on Fashion-MNIST, batch 64, 2 threads: onednn is 1.31x to 1.42x faster than "
            "pytorch");
}

TEST(Sentence, TurnsAPairRoundThatIsGivenTheOtherWay) {
  Report report = TwoArms(VerdictWord::kSlower, 0.08, 0.04, 0.01);
  EXPECT_EQ(BuildSentence(report),
            "FCN-R on Fashion-MNIST, batch 64, 2 threads: pytorch is 1.96x to 2.04x faster than "
            "onednn");
}

TEST(Sentence, ComparesTheFastestWithTheFirstNamedOther) {
  EXPECT_THAT(BuildSentence(GoodReport()), EndsWith("faster than libtorch"));
  EXPECT_THAT(BuildSentence(GoodReport()), HasSubstr("onednn is"));
}

TEST(Sentence, QuickLookHasNoVerdict) {
  Report report = TwoArms(VerdictWord::kQuickLook, 0.0321, 0.0438165, 0.055);
  report.quick = true;
  EXPECT_THAT(BuildSentence(report), EndsWith("faster than pytorch (quick look, no verdict)"));
  report.comparisons[0].comparison.low = 0.9;
  EXPECT_THAT(BuildSentence(report), Not(HasSubstr("faster")));
  report.comparisons[0].comparison.low.reset();
  report.comparisons[0].comparison.high.reset();
  report.comparisons[0].comparison.rounds = 3;
  EXPECT_THAT(BuildSentence(report),
              HasSubstr("runs at 1.37x the speed of pytorch in 3 rounds, too few for an interval"));
}

TEST(Sentence, WordsEveryOtherVerdictWithoutClaimingMore) {
  EXPECT_THAT(BuildSentence(TwoArms(VerdictWord::kEquivalent, 0.04, 0.0402, 0.02)),
              HasSubstr("onednn and pytorch are equivalent: onednn runs at 0.98x to 1.02x the "
                        "speed of pytorch"));
  EXPECT_THAT(BuildSentence(TwoArms(VerdictWord::kSmallChange, 0.04, 0.0412, 0.01)),
              EndsWith("faster than pytorch, a small change"));
  const std::string open = BuildSentence(TwoArms(VerdictWord::kUnresolved, 0.04, 0.041, 0.2));
  EXPECT_THAT(open, HasSubstr("runs at 0.82x to 1.22x the speed of pytorch"));
  EXPECT_THAT(open, HasSubstr("10 rounds could have shown a difference of 7.1 % or more"));
  EXPECT_THAT(open, Not(HasSubstr("faster than")));
}

TEST(Sentence, TellsArmsApartByPresetOnlyWhereNeeded) {
  Report report = TwoArms(VerdictWord::kFaster, 0.0321, 0.0438165, 0.055);
  report.results[1].framework = "onednn";
  report.results[1].preset = "recommended";
  EXPECT_THAT(BuildSentence(report), EndsWith("onednn default is 1.31x to 1.42x faster than "
                                              "onednn recommended"));
}

TEST(Sentence, WithoutAComparisonItStatesTheTimeOrWhyThereIsNone) {
  Report report = GoodReport();
  report.results.resize(1);
  report.comparisons.clear();
  EXPECT_THAT(BuildSentence(report), HasSubstr("onednn takes 32.10 ms a step (31.14 to 32.74)"));
  report.results[0].status = "unequal";
  EXPECT_EQ(BuildSentence(report), "no verified timing: 1 unequal");
  report.results.clear();
  EXPECT_EQ(BuildSentence(report), "no result yet");
  report.finished = false;
  EXPECT_EQ(BuildSentence(report), "no result yet (the run is not finished)");
}

TEST(Sentence, NeverUsesAWithheldArm) {
  Report report = TwoArms(VerdictWord::kFaster, 0.0321, 0.0438165, 0.055);
  report.results[0].status = "impossible";
  EXPECT_THAT(BuildSentence(report), Not(HasSubstr("onednn")));
  report = TwoArms(VerdictWord::kFaster, 0.0321, 0.0438165, 0.055);
  report.comparisons[0].b_index = 99;
  EXPECT_THAT(BuildSentence(report), Not(HasSubstr("faster")));
}

}  // namespace
}  // namespace dlbench::report
