#include "store/store.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/text.h"
#include "store_fixture.h"

namespace dlbench::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(StoreTest, CampaignComesBackAsItWent) {
  Campaign campaign;
  campaign.started = "2026-11-30T23:05:00Z";
  campaign.dlbench_version = "0.1.0";
  campaign.command_line = "dlbench run --network 'fcn5'";
  campaign.seed = 0xFEDCBA9876543210U;
  campaign.plan_hash = "abc";
  campaign.plan_json = R"({"networks": ["fcn5"]})";
  campaign.machine_json = R"({"cpu": "x"})";
  campaign.machine_fingerprint = "f";
  const std::int64_t id = *store_->AddCampaign(campaign);
  EXPECT_TRUE(store_->FinishCampaign(id).ok());
  Reopen();
  const auto campaigns = store_->Campaigns();
  ASSERT_THAT(*campaigns, SizeIs(2));
  const Campaign& back = campaigns->front();
  EXPECT_EQ(back.id, id) << "newest first";
  EXPECT_EQ(back.started, campaign.started);
  EXPECT_EQ(back.dlbench_version, campaign.dlbench_version);
  EXPECT_EQ(back.command_line, campaign.command_line);
  EXPECT_EQ(back.seed, campaign.seed);
  EXPECT_EQ(back.plan_hash, campaign.plan_hash);
  EXPECT_EQ(back.plan_json, campaign.plan_json);
  EXPECT_EQ(back.machine_json, campaign.machine_json);
  EXPECT_EQ(back.machine_fingerprint, campaign.machine_fingerprint);
  EXPECT_TRUE(back.finished);
  EXPECT_FALSE(campaigns->back().finished);
}

TEST_F(StoreTest, FinishingAnUnknownCampaignIsAnError) {
  EXPECT_EQ(store_->FinishCampaign(77).error().code(), ErrorCode::kNotFound);
}

Configuration FullConfiguration() {
  Configuration c;
  c.framework = "pytorch";
  c.framework_version = "2.13.0";
  c.language = "python";
  c.installation = "pytorch@2.13.0+cpu";
  c.preset = "default";
  c.mode_label = "eager";
  c.network = "fcn5";
  c.network_title = "Fully connected, 5 layers";
  c.variant = "base";
  c.network_hash = "n";
  c.data = "synthetic";
  c.data_source = "generated";
  c.data_hash = "d";
  c.synthetic = true;
  c.batch = 64;
  c.mode = "train";
  c.device = "cpu";
  c.precision = "float32";
  c.input = "resident";
  c.threads = 2;
  c.rank = 1;
  c.world_size = 4;
  c.flops_per_step = 1.25e9;
  c.settings = {{"threads", "2"}, {"quote\"d", "line\nbreak"}};
  return c;
}

TEST_F(StoreTest, ConfigurationComesBackAsItWent) {
  const Configuration c = FullConfiguration();
  const std::int64_t id = *store_->AddConfiguration(c);
  ASSERT_TRUE(store_->AddLaunch(GoodLaunch(campaign_, id, 0), std::nullopt).ok());
  ASSERT_TRUE(store_->SetEffectiveSettings(id, {{"omp", "2"}}).ok());
  Reopen();
  const auto configurations = store_->Configurations(campaign_);
  ASSERT_THAT(*configurations, SizeIs(1)) << "the other one has no launch in the campaign";
  const Configuration& back = configurations->front();
  EXPECT_EQ(back.id, id);
  EXPECT_EQ(back.framework, c.framework);
  EXPECT_EQ(back.framework_version, c.framework_version);
  EXPECT_EQ(back.language, c.language);
  EXPECT_EQ(back.installation, c.installation);
  EXPECT_EQ(back.preset, c.preset);
  EXPECT_EQ(back.mode_label, c.mode_label);
  EXPECT_EQ(back.network, c.network);
  EXPECT_EQ(back.network_title, c.network_title);
  EXPECT_EQ(back.variant, c.variant);
  EXPECT_EQ(back.network_hash, c.network_hash);
  EXPECT_EQ(back.data, c.data);
  EXPECT_EQ(back.data_source, c.data_source);
  EXPECT_EQ(back.data_hash, c.data_hash);
  EXPECT_TRUE(back.synthetic);
  EXPECT_EQ(back.batch, 64);
  EXPECT_EQ(back.mode, c.mode);
  EXPECT_EQ(back.device, c.device);
  EXPECT_EQ(back.precision, c.precision);
  EXPECT_EQ(back.input, c.input);
  EXPECT_EQ(back.threads, 2);
  EXPECT_EQ(back.rank, 1);
  EXPECT_EQ(back.world_size, 4);
  EXPECT_EQ(back.flops_per_step, c.flops_per_step);
  EXPECT_EQ(back.settings, c.settings);
  EXPECT_EQ(back.effective_settings, (std::map<std::string, std::string>{{"omp", "2"}}));
}

TEST_F(StoreTest, EqualConfigurationIsStoredOnce) {
  const Configuration c = FullConfiguration();
  const std::int64_t id = *store_->AddConfiguration(c);
  Reopen();
  EXPECT_EQ(*store_->AddConfiguration(c), id);
}

TEST_F(StoreTest, AnyDifferenceMakesAnotherConfiguration) {
  const std::int64_t id = *store_->AddConfiguration(FullConfiguration());
  Configuration other = FullConfiguration();
  other.threads = 1;
  EXPECT_NE(*store_->AddConfiguration(other), id);
  other = FullConfiguration();
  other.settings["threads"] = "1";
  EXPECT_NE(*store_->AddConfiguration(other), id);
  other = FullConfiguration();
  // Columns must not run into one another: "pytorch" + "2.13.0" against "pytorch2" + ".13.0".
  other.framework = "pytorch2";
  other.framework_version = ".13.0";
  EXPECT_NE(*store_->AddConfiguration(other), id);
}

TEST_F(StoreTest, EffectiveSettingsBelongToACampaign) {
  ASSERT_TRUE(store_->SetEffectiveSettings(configuration_, {{"isa", "avx512"}}).ok());
  ASSERT_TRUE(store_->SetEffectiveSettings(configuration_, {{"isa", "avx512"}}).ok());
  const auto changed = store_->SetEffectiveSettings(configuration_, {{"isa", "avx2"}});
  EXPECT_EQ(changed.error().code(), ErrorCode::kFailed);
  EXPECT_THAT(changed.error().message(), HasSubstr("isa was 'avx512' and is now 'avx2'"));
  const std::int64_t second = *store_->AddCampaign(Campaign{});
  EXPECT_TRUE(store_->SetEffectiveSettings(configuration_, {{"isa", "avx2"}}).ok());
  EXPECT_EQ(store_->Configurations(campaign_)->at(0).effective_settings.at("isa"), "avx512");
  EXPECT_EQ(store_->Configurations(second)->at(0).effective_settings.at("isa"), "avx2");
}

TEST_F(StoreTest, EffectiveSettingsNeedACampaign) {
  Reopen();
  EXPECT_FALSE(store_->SetEffectiveSettings(configuration_, {}).ok());
  ASSERT_TRUE(store_->BeginLaunch(campaign_, configuration_, 0).ok());
  EXPECT_TRUE(store_->SetEffectiveSettings(configuration_, {}).ok());
}

TEST_F(StoreTest, LaunchComesBackAsItWent) {
  LaunchRow launch = GoodLaunch(campaign_, configuration_, 3);
  launch.position = 2;
  launch.folder = "launches/7";
  launch.started = "2026-11-30T23:05:00Z";
  launch.request_ns = 900;
  launch.reply_ns = 900'000'000;
  launch.cpu_seconds = 1.5;
  launch.threads_used = 1.9;
  launch.peak_memory_bytes = 1ULL << 40;
  launch.ready_seconds = 0.1;
  launch.prepare_seconds = 0.2;
  launch.first_step_seconds = 0.3;
  launch.parameter_checksum = "c0ffee";
  launch.summary->warmup_steps = 12;
  launch.disturbance = {{"steal", 0.01}, {"unknown", std::numeric_limits<double>::quiet_NaN()}};
  const std::int64_t id = *store_->AddLaunch(launch, std::nullopt);
  Reopen();
  const auto launches = store_->Launches(campaign_);
  ASSERT_THAT(*launches, SizeIs(1));
  const LaunchRow& back = launches->front();
  EXPECT_EQ(back.id, id);
  EXPECT_EQ(back.configuration, configuration_);
  EXPECT_EQ(back.round, 3);
  EXPECT_EQ(back.position, 2);
  EXPECT_EQ(back.exit_status, 0);
  EXPECT_FALSE(back.signal);
  EXPECT_EQ(back.folder, launch.folder);
  EXPECT_EQ(back.started, launch.started);
  EXPECT_EQ(back.request_ns, 900);
  EXPECT_EQ(back.reply_ns, 900'000'000);
  EXPECT_EQ(back.cpu_seconds, 1.5);
  EXPECT_EQ(back.threads_used, 1.9);
  EXPECT_EQ(back.peak_memory_bytes, 1ULL << 40);
  EXPECT_EQ(back.ready_seconds, 0.1);
  EXPECT_EQ(back.prepare_seconds, 0.2);
  EXPECT_EQ(back.first_step_seconds, 0.3);
  EXPECT_EQ(back.parameter_checksum, "c0ffee");
  EXPECT_EQ(back.records, launch.records);
  ASSERT_TRUE(back.summary);
  EXPECT_EQ(back.summary->median_step_seconds, launch.summary->median_step_seconds);
  EXPECT_EQ(back.summary->mean_step_seconds, launch.summary->mean_step_seconds);
  EXPECT_EQ(back.summary->min_step_seconds, launch.summary->min_step_seconds);
  EXPECT_EQ(back.summary->max_step_seconds, launch.summary->max_step_seconds);
  EXPECT_EQ(back.summary->p95_step_seconds, launch.summary->p95_step_seconds);
  EXPECT_EQ(back.summary->p99_step_seconds, launch.summary->p99_step_seconds);
  EXPECT_EQ(back.summary->steps, 20);
  EXPECT_EQ(back.summary->warmup_steps, 12);
  EXPECT_EQ(back.summary->blocks, launch.summary->blocks);
  EXPECT_EQ(back.disturbance, (std::map<std::string, double>{{"steal", 0.01}}));
}

TEST_F(StoreTest, SummaryIsDerivedWhereTheCallerGaveNone) {
  LaunchRow launch = GoodLaunch(campaign_, configuration_, 0);
  launch.summary.reset();
  ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
  EXPECT_TRUE(store_->Launches(campaign_)->at(0).summary);
}

verify::GateResult Gate(verify::GateStatus status) {
  verify::GateResult gate;
  gate.status = status;
  gate.steps = 3;
  gate.reason = "gradient of 'w1' differs";
  gate.diagnosis = "weight decay on biases";
  gate.blind_spots = {"a", "b\n"};
  verify::Check check;
  check.quantity = verify::Quantity::kGradient;
  check.tensor = "w1";
  check.moment = "before";
  check.steps = 1;
  check.error = {0.5, std::numeric_limits<double>::infinity(),
                 std::numeric_limits<double>::quiet_NaN(), false};
  check.norm_limit = 1e-5;
  check.worst_limit = 1e-4;
  check.decidable = false;
  check.passed = false;
  gate.checks = {check, verify::Check{}};
  return gate;
}

TEST_F(StoreTest, VerificationComesBackAsItWent) {
  LaunchRow launch = CrashedLaunch(campaign_, configuration_, -1);
  launch.purpose = "gate";
  launch.status = "unequal";
  const verify::GateResult gate = Gate(verify::GateStatus::kUnequal);
  const std::int64_t id = *store_->AddLaunch(launch, VerificationRow{0, "full", gate});
  Reopen();
  const auto rows = store_->Verifications(campaign_);
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  ASSERT_THAT(*rows, SizeIs(1));
  EXPECT_EQ(rows->at(0).launch, id);
  EXPECT_EQ(rows->at(0).level, "full");
  const verify::GateResult& back = rows->at(0).result;
  EXPECT_EQ(back.status, gate.status);
  EXPECT_EQ(back.steps, 3);
  EXPECT_EQ(back.reason, gate.reason);
  EXPECT_EQ(back.diagnosis, gate.diagnosis);
  EXPECT_EQ(back.blind_spots, gate.blind_spots);
  ASSERT_THAT(back.checks, SizeIs(2));
  const verify::Check& check = back.checks[0];
  EXPECT_EQ(check.quantity, verify::Quantity::kGradient);
  EXPECT_EQ(check.tensor, "w1");
  EXPECT_EQ(check.moment, "before");
  EXPECT_EQ(check.steps, 1);
  EXPECT_EQ(check.error.norm_relative, 0.5);
  EXPECT_TRUE(std::isinf(check.error.worst_over_rms));
  EXPECT_TRUE(std::isnan(check.error.cosine_distance));
  EXPECT_FALSE(check.error.finite);
  EXPECT_EQ(check.norm_limit, 1e-5);
  EXPECT_EQ(check.worst_limit, 1e-4);
  EXPECT_FALSE(check.decidable);
  EXPECT_FALSE(check.passed);
  EXPECT_TRUE(back.checks[1].passed);
}

TEST_F(StoreTest, FailedLaunchMayNotBringTimes) {
  LaunchRow launch = GoodLaunch(campaign_, configuration_, 0);
  launch.status = "crashed";
  EXPECT_EQ(store_->AddLaunch(launch, std::nullopt).error().code(), ErrorCode::kInternal);
  launch = GoodLaunch(campaign_, configuration_, 0);
  launch.purpose = "gate";
  EXPECT_FALSE(store_->AddLaunch(launch, std::nullopt).ok());
  launch = GoodLaunch(campaign_, configuration_, 0);
  launch.records.clear();
  EXPECT_FALSE(store_->AddLaunch(launch, std::nullopt).ok()) << "a summary of nothing";
  EXPECT_THAT(*store_->Launches(campaign_), SizeIs(0));
}

TEST_F(StoreTest, UnequalLaunchMayNotBringTimes) {
  for (const auto status : {verify::GateStatus::kUnequal, verify::GateStatus::kMistrusted}) {
    EXPECT_FALSE(store_
                     ->AddLaunch(GoodLaunch(campaign_, configuration_, 0),
                                 VerificationRow{0, "light", Gate(status)})
                     .ok());
  }
  EXPECT_TRUE(store_
                  ->AddLaunch(GoodLaunch(campaign_, configuration_, 0),
                              VerificationRow{0, "light", Gate(verify::GateStatus::kEqual)})
                  .ok());
}

TEST_F(StoreTest, RecordsThatRunBackwardsAreRefused) {
  LaunchRow launch = GoodLaunch(campaign_, configuration_, 0);
  std::swap(launch.records.front(), launch.records.back());
  launch.summary.reset();
  EXPECT_EQ(store_->AddLaunch(launch, std::nullopt).error().code(), ErrorCode::kInternal);
}

TEST_F(StoreTest, DoneLaunchIsStoredOnceAndAFailedOneMayBeTriedAgain) {
  ASSERT_TRUE(store_->AddLaunch(CrashedLaunch(campaign_, configuration_, 0), std::nullopt).ok());
  ASSERT_TRUE(store_->AddLaunch(GoodLaunch(campaign_, configuration_, 0), std::nullopt).ok());
  EXPECT_FALSE(store_->AddLaunch(GoodLaunch(campaign_, configuration_, 0), std::nullopt).ok());
  EXPECT_THAT(*store_->Launches(campaign_), SizeIs(2));
}

TEST_F(StoreTest, LaunchOfAnUnknownCampaignIsRefused) {
  EXPECT_FALSE(store_->AddLaunch(GoodLaunch(99, configuration_, 0), std::nullopt).ok());
  EXPECT_FALSE(store_->BeginLaunch(campaign_, 99, 0).ok());
}

TEST_F(StoreTest, LaunchBegunAndNotAddedIsIncompleteOnce) {
  ASSERT_TRUE(store_->BeginLaunch(campaign_, configuration_, 0).ok());
  ASSERT_TRUE(store_->AddLaunch(GoodLaunch(campaign_, configuration_, 0), std::nullopt).ok());
  ASSERT_TRUE(store_->BeginLaunch(campaign_, configuration_, 1).ok());
  Reopen();
  EXPECT_EQ(*store_->TakeIncomplete(), 1);
  EXPECT_EQ(*store_->TakeIncomplete(), 0);
  EXPECT_THAT(*store_->Launches(campaign_), SizeIs(1));
}

TEST_F(StoreTest, CampaignsDoNotMix) {
  const std::int64_t second = *store_->AddCampaign(Campaign{});
  ASSERT_TRUE(store_->AddLaunch(GoodLaunch(campaign_, configuration_, 0), std::nullopt).ok());
  ASSERT_TRUE(store_->AddLaunch(GoodLaunch(second, configuration_, 0), std::nullopt).ok());
  EXPECT_THAT(*store_->Launches(second), SizeIs(1));
  EXPECT_EQ(store_->Launches(second)->at(0).campaign, second);
}

using C19 = StoreTest;
TEST_F(C19, TimedOutRoundsAreRowsWithoutNumbers) {
  for (std::int64_t round = 0; round < 5; ++round) {
    LaunchRow launch = round == 3 ? CrashedLaunch(campaign_, configuration_, round)
                                  : GoodLaunch(campaign_, configuration_, round);
    if (round == 3) launch.status = "timeout";
    ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
  }
  std::vector<double> medians;
  const auto launches = store_->Launches(campaign_);
  for (const LaunchRow& launch : *launches) {
    if (launch.summary) medians.push_back(launch.summary->median_step_seconds);
  }
  EXPECT_THAT(*launches, SizeIs(5));
  EXPECT_THAT(medians, SizeIs(4));
  EXPECT_EQ(Sql("SELECT count(*) FROM launch WHERE median_step_seconds IS NULL"), "1");
}

using C65 = StoreTest;
TEST_F(C65, CrashBetweenGoodLaunchesLeavesThreeEntries) {
  for (std::size_t crashed = 0; crashed < 3; ++crashed) {
    const std::int64_t campaign = *store_->AddCampaign(Campaign{});
    for (std::size_t i = 0; i < 3; ++i) {
      const auto round = static_cast<std::int64_t>(i);
      ASSERT_TRUE(store_
                      ->AddLaunch(i == crashed ? CrashedLaunch(campaign, configuration_, round)
                                               : GoodLaunch(campaign, configuration_, round),
                                  std::nullopt)
                      .ok());
    }
    const auto launches = store_->Launches(campaign);
    ASSERT_THAT(*launches, SizeIs(3));
    for (std::size_t i = 0; i < 3; ++i) {
      const LaunchRow& launch = launches->at(i);
      EXPECT_EQ(launch.summary.has_value(), i != crashed);
      EXPECT_EQ(launch.signal, i == crashed ? std::optional(11) : std::nullopt);
      EXPECT_EQ(launch.log_tail, i == crashed ? "last words\n" : "");
    }
  }
  EXPECT_THAT(*store_->CheckFigures(), SizeIs(0));
}

using C67 = StoreTest;
TEST_F(C67, TroublesomeReasonComesBackIdentical) {
  LaunchRow launch = CrashedLaunch(campaign_, configuration_, 0);
  launch.reason = std::string("line\nbreak\ttab \"quote\" 'single' back\\slash NUL \0 end;--", 55);
  launch.reason += std::string(100'000, 'x');
  ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
  Reopen();
  ASSERT_THAT(*store_->Launches(campaign_), SizeIs(1));
  EXPECT_EQ(store_->Launches(campaign_)->at(0).reason, launch.reason);
}

TEST_F(C67, LongLogIsCutWithAMark) {
  LaunchRow launch = CrashedLaunch(campaign_, configuration_, 0);
  launch.log_tail = std::string(100'000, 'x') + "the end";
  ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
  const std::string back = store_->Launches(campaign_)->at(0).log_tail;
  EXPECT_LE(back.size(), 64U * 1024);
  EXPECT_THAT(back, testing::StartsWith("["));
  EXPECT_THAT(back.substr(0, 40), HasSubstr(" bytes cut]\n"));
  EXPECT_THAT(back, testing::EndsWith("the end"));
}

std::string RandomBytes(std::mt19937_64& random) {
  std::string bytes(random() % 40, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST_F(C67, RandomBytesSurviveInEveryText) {
  // 200 launches of five texts each, and twenty configurations.
  std::mt19937_64 random(67);
  for (std::int64_t i = 0; i < 200; ++i) {
    LaunchRow launch = CrashedLaunch(campaign_, configuration_, i);
    for (std::string* text : {&launch.reason, &launch.log_tail, &launch.folder, &launch.started}) {
      *text = RandomBytes(random);
    }
    launch.disturbance = {{RandomBytes(random), 0.5}};
    ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
  }
  const auto launches = store_->Launches(campaign_);
  ASSERT_TRUE(launches.ok()) << launches.error().message();
  ASSERT_THAT(*launches, SizeIs(200));
  random.seed(67);
  for (const LaunchRow& launch : *launches) {
    for (const std::string* text :
         {&launch.reason, &launch.log_tail, &launch.folder, &launch.started}) {
      EXPECT_EQ(*text, SanitizeUtf8(RandomBytes(random)));
    }
    EXPECT_EQ(launch.disturbance.count(SanitizeUtf8(RandomBytes(random))), 1U);
  }
}

TEST_F(C67, RandomBytesSurviveInAConfiguration) {
  std::mt19937_64 random(68);
  Configuration c = FullConfiguration();
  for (std::int64_t i = 0; i < 20; ++i) {
    c.device = RandomBytes(random);
    c.settings[RandomBytes(random)] = c.device;
    const std::int64_t id = *store_->AddConfiguration(c);
    EXPECT_EQ(*store_->AddConfiguration(c), id);
    ASSERT_TRUE(store_->BeginLaunch(campaign_, id, i).ok());
    const Configuration back = store_->Configurations(campaign_)->back();
    EXPECT_EQ(back.device, SanitizeUtf8(c.device));
    for (const auto& [key, text] : c.settings) {
      EXPECT_EQ(back.settings.at(SanitizeUtf8(key)), SanitizeUtf8(text));
    }
  }
}

using C68 = StoreTest;
TEST_F(C68, InvalidUtf8IsMarkedAndTheNumbersAreIntact) {
  Campaign campaign;
  campaign.machine_fingerprint = "host\xFFname";
  campaign.command_line = "\xC3\x28";
  campaign.seed = 42;
  const std::int64_t id = *store_->AddCampaign(campaign);
  Configuration c = FullConfiguration();
  c.settings["CPU"] = "name \xFF";
  const std::int64_t configuration = *store_->AddConfiguration(c);
  EXPECT_EQ(*store_->AddConfiguration(c), configuration);
  LaunchRow launch = GoodLaunch(id, configuration, 0);
  launch.folder = "\xFE";
  ASSERT_TRUE(store_->AddLaunch(launch, std::nullopt).ok());
  EXPECT_EQ(store_->Campaigns()->front().machine_fingerprint, "host\\xffname");
  EXPECT_EQ(store_->Campaigns()->front().command_line, "\\xc3(");
  EXPECT_EQ(store_->Campaigns()->front().seed, 42U);
  EXPECT_EQ(store_->Configurations(id)->at(0).settings.at("CPU"), "name \\xff");
  EXPECT_EQ(store_->Launches(id)->at(0).records, launch.records);
}

}  // namespace
}  // namespace dlbench::store
