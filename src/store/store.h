#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "measure/measure.h"
#include "verify/verify.h"

namespace dlbench::store {

/// Identity of a configuration: everything that two results must share to be one.
struct Configuration {
  std::int64_t id = 0;  ///< Row id; 0 before it is stored.
  std::string framework, framework_version, language, installation;
  std::string preset, mode_label;
  std::string network, network_title, variant, network_hash;
  std::string data, data_source, data_hash;
  bool synthetic = false;
  std::int64_t batch = 0;
  std::string mode, device, precision, input;
  int threads = 1, rank = 0, world_size = 1;
  double flops_per_step = 0.0;
  std::map<std::string, std::string> settings;  ///< Asked for.
  /// As the adapter read them back in the campaign asked for; no part of the identity.
  std::map<std::string, std::string> effective_settings;
};

/// A campaign: one invocation of `dlbench run` on one machine.
struct Campaign {
  std::int64_t id = 0;
  std::string started;  ///< Calendar label.
  std::string dlbench_version;
  std::string command_line;
  std::uint64_t seed = 0;
  std::string plan_hash;  ///< `--resume` continues only the same plan.
  std::string plan_json;  ///< The experiment as resolved.
  std::string machine_json;
  std::string machine_fingerprint;
  bool finished = false;
};

/// One process from start to end, successful or not.
struct LaunchRow {
  std::int64_t id = 0;
  std::int64_t campaign = 0, configuration = 0;
  std::int64_t round = 0;     ///< From 0; -1 for the gate launch.
  std::int64_t position = 0;  ///< Place within the round.
  std::string purpose;        ///< "gate" or "timed".
  std::string status;         ///< "done", the failure kind of docs/results.md, or "damaged".
  std::string reason;
  std::optional<int> signal, exit_status;
  std::string log_tail;
  std::string folder;   ///< Relative to the results folder.
  std::string started;  ///< Calendar label.
  std::vector<measure::StepRecord>
      records;  ///< Raw timed records; empty unless "timed" and "done".
  std::optional<measure::LaunchSummary> summary;  ///< Of `records`.
  std::int64_t request_ns = 0, reply_ns = 0;  ///< The orchestrator's bracket around the timed run.
  double cpu_seconds = 0.0;
  double threads_used = 0.0;
  std::uint64_t peak_memory_bytes = 0;
  double ready_seconds = 0.0, prepare_seconds = 0.0, first_step_seconds = 0.0;
  std::string parameter_checksum;
  std::map<std::string, double> disturbance;  ///< Evidence by name; filled by a later version.
};

/// A gate result tied to a launch.
struct VerificationRow {
  std::int64_t launch = 0;
  std::string level;  ///< "full" or "light".
  verify::GateResult result;
};

/// What re-deriving all figures gave.
struct FigureCheck {
  std::int64_t launches = 0;               ///< Launches looked at.
  std::int64_t figures = 0;                ///< Figures re-derived from raw records.
  std::vector<std::string> disagreements;  ///< One line each; empty if all hold.
};

/// SQLite file of results. One writer; WAL; every call is its own transaction, so a kill loses at
/// most the launch in flight. Move-only through unique_ptr. Text is stored as valid UTF-8: an
/// invalid byte comes back as "\xXX"; a log above 64 KiB comes back as its end, with a mark.
/// Any call: kIo where the disk is full or refuses, nothing half-written.
class Store {
 public:
  /// Opens or creates `folder`/results.sqlite for writing. Errors: a folder that cannot be written,
  /// another process writing there (kIo); a file that is no results database (kInput); a schema
  /// newer than this program (kUnsupported).
  static Result<std::unique_ptr<Store>> Open(const std::filesystem::path& folder);
  /// Opens an existing file for reading, also while another process writes; kNotFound where there
  /// is none, else errors as Open. Calls that write fail.
  static Result<std::unique_ptr<Store>> OpenReadOnly(const std::filesystem::path& folder);
  virtual ~Store() = default;

  virtual Result<std::int64_t> AddCampaign(const Campaign& campaign) = 0;
  /// kNotFound for an unknown campaign.
  virtual Status FinishCampaign(std::int64_t campaign) = 0;
  /// Newest first.
  virtual Result<std::vector<Campaign>> Campaigns() = 0;
  /// The id of the equal configuration if stored, else adds it.
  virtual Result<std::int64_t> AddConfiguration(const Configuration& configuration) = 0;
  /// Those with a launch, begun or ended, or with effective settings in the campaign, in the order
  /// of their first launches there.
  virtual Result<std::vector<Configuration>> Configurations(std::int64_t campaign) = 0;
  /// Sets what the adapter said after `prepare`, in the campaign that this object last added, began
  /// a launch in or added a launch to. kFailed where the same campaign holds other ones already:
  /// two launches with different settings are not one configuration.
  virtual Status SetEffectiveSettings(std::int64_t configuration,
                                      const std::map<std::string, std::string>& settings) = 0;
  /// Adds an ended launch with its records, summary and verification in one transaction; `id` and
  /// `verification->launch` are ignored, an absent summary of existing records is derived.
  /// kInternal, and nothing stored, for records of a launch that is not "timed" and "done" or whose
  /// gate did not pass, for records that cannot be summarised, and for a second "done" launch of
  /// the same campaign, configuration, round and purpose.
  virtual Result<std::int64_t> AddLaunch(const LaunchRow& launch,
                                         const std::optional<VerificationRow>& verification) = 0;
  /// In the order in which they were added, raw records included. One whose records are torn comes
  /// as "damaged", with a reason and without a summary.
  virtual Result<std::vector<LaunchRow>> Launches(std::int64_t campaign) = 0;
  virtual Result<std::vector<VerificationRow>> Verifications(std::int64_t campaign) = 0;

  /// Re-derives every stored figure from the raw records, checks that no other launch holds records
  /// or figures, and lets SQLite check the file.
  virtual Result<FigureCheck> CheckAll() = 0;
  /// The disagreements alone.
  Result<std::vector<std::string>> CheckFigures();
  /// Marks a launch that was in flight when the program died (`BeginLaunch` without `AddLaunch`).
  virtual Status BeginLaunch(std::int64_t campaign, std::int64_t configuration,
                             std::int64_t round) = 0;
  /// Launches begun and never finished; cleared by the call.
  virtual Result<std::int64_t> TakeIncomplete() = 0;
};

}  // namespace dlbench::store
