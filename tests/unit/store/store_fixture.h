#pragma once

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace dlbench::store {

/// A folder of its own for each test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "dlbench-store-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file() const { return path_ / "results.sqlite"; }

 private:
  std::filesystem::path path_;
};

/// Runs SQL beside the store and returns the first column of the first row, or "error: ...".
inline std::string Sql(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  std::string answer;
  sqlite3_open(file.c_str(), &handle);
  sqlite3_busy_timeout(handle, 5000);
  char* message = nullptr;
  const auto keep_first = [](void* kept, int, char** values, char**) {
    auto& text = *static_cast<std::string*>(kept);
    if (text.empty() && values[0] != nullptr) text = values[0];
    return 0;
  };
  if (sqlite3_exec(handle, sql.c_str(), keep_first, &answer, &message) != SQLITE_OK) {
    answer = "error: " + std::string(message);
  }
  sqlite3_free(message);
  sqlite3_close(handle);
  return answer;
}

/// `count` steps of `ns` each, one by one.
inline std::vector<measure::StepRecord> Steps(std::int64_t count, std::int64_t ns) {
  std::vector<measure::StepRecord> records;
  for (std::int64_t i = 0; i < count; ++i)
    records.push_back({1, 1000 + i * ns, 1000 + i * ns + ns});
  return records;
}

/// A timed launch that went well, with records and summary.
inline LaunchRow GoodLaunch(std::int64_t campaign, std::int64_t configuration, std::int64_t round) {
  LaunchRow launch;
  launch.campaign = campaign;
  launch.configuration = configuration;
  launch.round = round;
  launch.purpose = "timed";
  launch.status = "done";
  launch.exit_status = 0;
  launch.records = Steps(20, 5'000'000 + 1000 * round);
  launch.summary = measure::Summarize(launch.records);
  return launch;
}

/// A launch that ended with a signal.
inline LaunchRow CrashedLaunch(std::int64_t campaign, std::int64_t configuration,
                               std::int64_t round) {
  LaunchRow launch;
  launch.campaign = campaign;
  launch.configuration = configuration;
  launch.round = round;
  launch.purpose = "timed";
  launch.status = "crashed";
  launch.reason = "the adapter was ended by signal 11";
  launch.signal = 11;
  launch.log_tail = "last words\n";
  return launch;
}

/// A store in a folder of its own with one campaign and one configuration.
class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    Reopen();
    ASSERT_TRUE(store_);
    campaign_ = *store_->AddCampaign(Campaign{});
    configuration_ = *store_->AddConfiguration(Configuration{});
  }
  /// Closes and opens again.
  void Reopen() {
    store_.reset();
    auto opened = Store::Open(folder_.path());
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    store_ = std::move(opened).value();
  }
  std::string Sql(const std::string& sql) { return store::Sql(folder_.file(), sql); }

  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
  std::int64_t campaign_ = 0;
  std::int64_t configuration_ = 0;
};

}  // namespace dlbench::store
