#pragma once

#include <optional>
#include <utility>

#include "store/sqlite.h"
#include "store/store.h"
#include "store/writer_lock.h"

namespace dlbench::store {

/// The Store in an SQLite file. Use Store::Open or Store::OpenReadOnly.
class SqliteStore final : public Store {
 public:
  /// `lock` is absent for a store that only reads.
  SqliteStore(std::optional<WriterLock> lock, Connection connection)
      : lock_(std::move(lock)), connection_(std::move(connection)) {}

  Result<std::int64_t> AddCampaign(const Campaign& campaign) override;
  Status FinishCampaign(std::int64_t campaign) override;
  Result<std::vector<Campaign>> Campaigns() override;
  Result<std::int64_t> AddConfiguration(const Configuration& configuration) override;
  Result<std::vector<Configuration>> Configurations(std::int64_t campaign) override;
  Status SetEffectiveSettings(std::int64_t configuration,
                              const std::map<std::string, std::string>& settings) override;
  Result<std::int64_t> AddLaunch(const LaunchRow& launch,
                                 const std::optional<VerificationRow>& verification) override;
  Result<std::vector<LaunchRow>> Launches(std::int64_t campaign) override;
  Result<std::vector<VerificationRow>> Verifications(std::int64_t campaign) override;
  Result<FigureCheck> CheckAll() override;
  Status BeginLaunch(std::int64_t campaign, std::int64_t configuration,
                     std::int64_t round) override;
  Result<std::int64_t> TakeIncomplete() override;

 private:
  Status AddVerification(std::int64_t launch, const VerificationRow& verification);
  Status ReadChecks(VerificationRow& row);

  std::optional<WriterLock>
      lock_;  // Before the connection: it is given back after the file closed.
  Connection connection_;
  std::int64_t campaign_ = 0;  ///< The campaign in work, 0 before one is named.
};

}  // namespace dlbench::store
