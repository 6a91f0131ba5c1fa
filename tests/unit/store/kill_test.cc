#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <random>
#include <set>

#include "core/file.h"
#include "store_fixture.h"

namespace dlbench::store {
namespace {

using testing::IsEmpty;

constexpr std::int64_t kCells = 5;
constexpr std::int64_t kRounds = 20;
using Cell = std::pair<std::int64_t, std::int64_t>;  ///< Configuration, round.

std::set<Cell> Finished(Store& store, std::int64_t campaign) {
  std::set<Cell> finished;
  const auto launches = store.Launches(campaign);
  EXPECT_TRUE(launches.ok()) << launches.error().message();
  for (const LaunchRow& launch : *launches) {
    const bool first = finished.insert({launch.configuration, launch.round}).second;
    EXPECT_TRUE(first) << "stored twice";
    EXPECT_EQ(launch.records.size(), 20U);
  }
  return finished;
}

/// The child: adds what is missing of the campaign, and says over `fd` what it has done: one byte
/// before and one after each launch.
[[noreturn]] void AddMissing(const std::filesystem::path& folder, std::int64_t campaign, int fd) {
  const auto say = [fd](char word) {
    if (::write(fd, &word, 1) != 1) ::_exit(3);
  };
  auto store = Store::Open(folder);
  if (!store.ok()) ::_exit(2);
  const std::set<Cell> finished = Finished(**store, campaign);
  for (std::int64_t round = 0; round < kRounds; ++round) {
    for (std::int64_t cell = 1; cell <= kCells; ++cell) {
      if (finished.count({cell, round}) != 0) continue;
      if (!(*store)->BeginLaunch(campaign, cell, round).ok()) ::_exit(4);
      say('b');
      if (!(*store)->AddLaunch(GoodLaunch(campaign, cell, round), std::nullopt).ok()) ::_exit(5);
      say('e');
    }
  }
  ::_exit(0);
}

/// What a child did before it was killed at the `stop`-th byte plus `delay` rounds of an empty
/// loop.
struct Life {
  std::int64_t ended = 0;  ///< Launches that it said were stored.
  bool killed = false;
};

Life RunAndKill(const std::filesystem::path& folder, std::int64_t campaign, std::int64_t stop,
                std::uint64_t delay) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    AddMissing(folder, campaign, ends[1]);
  }
  ::close(ends[1]);
  Life life;
  char word = 0;
  for (std::int64_t i = 0; i < stop && ::read(ends[0], &word, 1) == 1; ++i) {
    if (word == 'e') ++life.ended;
  }
  volatile std::uint64_t sink = 0;
  for (std::uint64_t i = 0; i < delay; ++i) sink = i;
  static_cast<void>(sink);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  life.killed = WIFSIGNALED(status);
  EXPECT_TRUE(life.killed || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
  while (::read(ends[0], &word, 1) == 1) {
    if (word == 'e') ++life.ended;
  }
  ::close(ends[0]);
  return life;
}

TEST(C64, KilledAtAnyMomentTheStoreLosesAtMostTheLaunchInFlight) {
  const TemporaryFolder folder;
  std::mt19937_64 random(64);
  std::int64_t campaign = 0;
  std::size_t before = 0;
  int kills = 0;
  int incomplete = 0;
  {
    const auto store = Store::Open(folder.path());
    campaign = *(*store)->AddCampaign(Campaign{});
    for (std::int64_t cell = 1; cell <= kCells; ++cell) {
      Configuration configuration;
      configuration.batch = cell;
      ASSERT_EQ(*(*store)->AddConfiguration(configuration), cell);
    }
  }
  while (kills < 50) {
    const Life life = RunAndKill(folder.path(), campaign, static_cast<std::int64_t>(random() % 8),
                                 random() % 2'000'000);
    if (life.killed) ++kills;
    auto store = Store::Open(folder.path());
    ASSERT_TRUE(store.ok()) << store.error().message();
    ASSERT_EQ(Sql(folder.file(), "PRAGMA integrity_check"), "ok");
    ASSERT_THAT(*(*store)->CheckFigures(), IsEmpty());
    const std::size_t now = Finished(**store, campaign).size();
    // Stored but killed before it could say so is fine; said and not stored is not.
    ASSERT_GE(now, before + static_cast<std::size_t>(life.ended));
    ASSERT_LE(now, before + static_cast<std::size_t>(life.ended) + 1);
    const auto taken = (*store)->TakeIncomplete();
    ASSERT_LE(*taken, 1);
    incomplete += static_cast<int>(*taken);
    before = now;
    if (now == static_cast<std::size_t>(kCells * kRounds)) {
      campaign = *(*store)->AddCampaign(Campaign{});
      before = 0;
    }
  }
  EXPECT_GT(incomplete, 0) << "no kill fell into a launch";
  // What is left is finished by a run that nobody kills.
  const Life last = RunAndKill(folder.path(), campaign, 1'000'000, 0);
  EXPECT_EQ(static_cast<std::int64_t>(before) + last.ended, kCells * kRounds);
  const auto store = Store::Open(folder.path());
  EXPECT_EQ(Finished(**store, campaign).size(), static_cast<std::size_t>(kCells * kRounds));
  EXPECT_EQ(*(*store)->TakeIncomplete(), 0);
}

}  // namespace
}  // namespace dlbench::store
