#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/channel.h"
#include "worker/memory_group.h"
#include "worker/messages.h"
#include "worker/process.h"
#include "worker/process_table.h"
#include "worker/usage.h"
#include "worker/worker.h"

namespace dlbench::worker {

/// Where the system lets us limit memory and says that it has killed; tests put files in its place.
struct SystemView {
  std::optional<std::filesystem::path> delegated_group;  ///< FindDelegatedGroup().
  std::function<std::uint64_t()> oom_kills;              ///< SystemOomKills.
};

/// The Session that has a real process.
class ProcessSession final : public Session {
 public:
  /// Starts the process; see Session::Start.
  static Outcome<std::unique_ptr<Session>> Start(const LaunchSpec& spec, Clock& clock,
                                                 const volatile std::sig_atomic_t* interrupted,
                                                 SystemView system);
  ~ProcessSession() override;
  ProcessSession(const ProcessSession&) = delete;
  ProcessSession& operator=(const ProcessSession&) = delete;

  Outcome<Hello> SayHello() override;
  Outcome<Prepared> Prepare(const PrepareRequest& request) override;
  Outcome<Verified> Verify(const VerifyRequest& request) override;
  Outcome<Ran> Run(const RunRequest& request) override;
  Outcome<Exported> Export(const std::string& folder) override;
  Outcome<double> Sync() override;
  Outcome<Finished> Finish() override;
  Outcome<Observed> Observe(const ObserverRequest& request) override;
  Outcome<std::string> Ask(const std::string& request, const std::string& reply_type) override;
  std::uint32_t padding_bytes() const override { return parts_.padding; }

 private:
  struct Parts {
    LaunchSpec spec;
    std::uint32_t padding = 0;
    std::string mark;
    std::optional<MemoryGroup> group;
    SystemView system;
  };
  ProcessSession(Parts parts, Process process, Channel channel);

  /// Sends one line and waits; every way in which no line comes back is a Failure.
  Outcome<Exchange> Talk(const std::string& request, const std::string& type,
                         Channel::Waiting waiting);
  /// Talk with the standard quarter-second look at memory.
  Outcome<Exchange> TalkWatched(const std::string& request, const std::string& type,
                                std::chrono::milliseconds limit);
  /// Passes a parsed answer on; a Failure gets its context and ends the process.
  template <class T>
  Outcome<T> Checked(Outcome<T> answer, const std::string& type);
  /// Gives `failure` its context, exit status and log tail, ends the process unless the adapter may
  /// live on, and keeps it for later calls.
  Failure Settle(Failure failure, const std::string& type);
  /// What an exchange without a line means.
  Failure Explain(const Exchange& exchange, std::chrono::milliseconds limit);
  Failure ExplainEnd(const Exchange& exchange);
  /// Why a SIGKILL that was not ours may have been one for memory; empty if nothing says so.
  std::string MemoryEvidence() const;
  /// Looks at memory; false once the limit is exceeded.
  bool MemoryIsFine(const std::vector<ProcessInfo>& members);
  Failure OverMemory() const;
  std::string LogTail() const;
  std::int64_t NextId() { return ++last_id_; }

  /// Ends the process and all its descendants: end of file, SIGTERM, grace, SIGKILL; reaps.
  void End();
  /// Waits for the first process's end after end of file and, at need, SIGTERM.
  void AskToEnd();
  /// Kills and reaps until no member but the first process is left.
  void EndMembers();
  /// Names of the members that live, without the first process.
  std::vector<std::string> LiveDescendants();
  /// After the last answer: waits for the end and says what was wrong with it.
  std::optional<std::string> WaitForOrderlyEnd();

  Parts parts_;
  Process process_;
  Channel channel_;
  LaunchMembers members_;
  Expectation expected_;
  std::int64_t last_id_ = 0;
  std::uint64_t parameter_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::uint64_t oom_kills_before_ = 0;
  bool idle_ = true;  // No request is unanswered: end of file should suffice to end it.
  bool ended_ = false;
  std::optional<ExitStatus> exit_status_;
  std::optional<Failure> failure_;
};

}  // namespace dlbench::worker
