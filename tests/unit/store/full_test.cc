#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <iostream>

#include "store_fixture.h"

namespace dlbench::store {
namespace {

constexpr int kSkipped = 77;

/// Runs `body` in a child process, whose limits and mounts end with it; its exit status.
int InChild(const std::function<int()>& body) {
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Adds launches until one fails; 0 if that one says why and all before it are intact.
int FillUp(Store& store) {
  const std::int64_t campaign = *store.AddCampaign(Campaign{});
  const std::int64_t configuration = *store.AddConfiguration(Configuration{});
  std::size_t added = 0;
  for (std::int64_t round = 0; round < 10'000; ++round, ++added) {
    LaunchRow launch = GoodLaunch(campaign, configuration, round);
    launch.records = Steps(1000, 5'000'000);
    launch.summary.reset();
    const auto result = store.AddLaunch(launch, std::nullopt);
    if (result.ok()) continue;
    if (result.error().message().find("no space left") == std::string::npos) {
      std::cerr << result.error().message() << '\n';
      return 3;
    }
    break;
  }
  const auto launches = store.Launches(campaign);
  if (!launches.ok() || launches->size() != added || added == 0) return 4;
  const auto check = store.CheckFigures();
  return check.ok() && check->empty() ? 0 : 5;
}

TEST(DiskFull, LimitOnTheFileSizeLosesOnlyTheEntryThatDidNotFit) {
  const TemporaryFolder folder;
  EXPECT_EQ(InChild([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{512 * 1024, 512 * 1024};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return kSkipped;
              auto store = Store::Open(folder.path());
              return store.ok() ? FillUp(**store) : 2;
            }),
            0);
  // With room again, the store goes on where it was.
  auto store = Store::Open(folder.path());
  ASSERT_TRUE(store.ok()) << store.error().message();
  EXPECT_EQ(Sql(folder.file(), "PRAGMA integrity_check"), "ok");
  EXPECT_TRUE((*store)->AddCampaign(Campaign{}).ok());
}

TEST(DiskFull, FullFileSystemLosesOnlyTheEntryThatDidNotFit) {
  const TemporaryFolder folder;
  const int status = InChild([&] {
    // A mount of its own, invisible to others and gone with the process.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
      return kSkipped;
    }
    auto store = Store::Open(folder.path());
    return store.ok() ? FillUp(**store) : 2;
  });
  if (status == kSkipped) GTEST_SKIP() << "cannot mount a small file system here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace dlbench::store
