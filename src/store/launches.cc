#include <bit>
#include <string>

#include "core/text.h"
#include "store/column_text.h"
#include "store/sqlite_store.h"

namespace dlbench::store {
namespace {

Value Text(const std::string& text) { return SanitizeUtf8(text); }
Value Int(std::int64_t number) { return number; }

constexpr const char* kInsertLaunch =
    "INSERT INTO launch (campaign, configuration, round, position, purpose, status, reason, signal,"
    " exit_status, log_tail, folder, started, request_ns, reply_ns, cpu_seconds, threads_used,"
    " peak_memory_bytes, ready_seconds, prepare_seconds, first_step_seconds, parameter_checksum,"
    " disturbance, median_step_seconds, mean_step_seconds, min_step_seconds, max_step_seconds,"
    " p95_step_seconds, p99_step_seconds, steps, warmup_steps, blocks, minimum_block_steps,"
    " minimum_block_ns, records)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

constexpr const char* kSelectLaunches =
    "SELECT campaign, configuration, round, position, purpose, status, reason, signal,"
    " exit_status, log_tail, folder, started, request_ns, reply_ns, cpu_seconds, threads_used,"
    " peak_memory_bytes, ready_seconds, prepare_seconds, first_step_seconds, parameter_checksum,"
    " disturbance, median_step_seconds, mean_step_seconds, min_step_seconds, max_step_seconds,"
    " p95_step_seconds, p99_step_seconds, steps, warmup_steps, blocks, minimum_block_steps,"
    " minimum_block_ns, records, id FROM launch WHERE campaign = ? ORDER BY id";

std::vector<Value> LaunchValues(const LaunchRow& launch) {
  const auto whole = [](const std::optional<int>& number) {
    return number ? Value(std::int64_t{*number}) : Value();
  };
  return {Int(launch.campaign),
          Int(launch.configuration),
          Int(launch.round),
          Int(launch.position),
          Text(launch.purpose),
          Text(launch.status),
          Text(launch.reason),
          whole(launch.signal),
          whole(launch.exit_status),
          CutLog(launch.log_tail),
          Text(launch.folder),
          Text(launch.started),
          Int(launch.request_ns),
          Int(launch.reply_ns),
          launch.cpu_seconds,
          launch.threads_used,
          Int(std::bit_cast<std::int64_t>(launch.peak_memory_bytes)),
          launch.ready_seconds,
          launch.prepare_seconds,
          launch.first_step_seconds,
          Text(launch.parameter_checksum),
          ToJson(launch.disturbance)};
}

/// The summary's columns and the records; all NULL where there are none.
void AppendRecords(std::vector<Value>& values, const LaunchRow& launch,
                   const std::optional<measure::LaunchSummary>& summary) {
  if (!summary) {
    values.resize(values.size() + 12);
    return;
  }
  for (Value value :
       {Value(summary->median_step_seconds), Value(summary->mean_step_seconds),
        Value(summary->min_step_seconds), Value(summary->max_step_seconds),
        OrNull(summary->p95_step_seconds), OrNull(summary->p99_step_seconds), Int(summary->steps),
        Int(summary->warmup_steps), Int(summary->blocks), Int(summary->minimum_block_steps),
        Int(summary->minimum_block_ns), Value(Blob{measure::EncodeRecords(launch.records)})}) {
    values.push_back(std::move(value));
  }
}

std::optional<int> OptionalWhole(const Statement& row, int column) {
  const auto number = row.OptionalInt(column);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::optional<measure::LaunchSummary> ReadSummary(const Statement& row, int first) {
  if (row.IsNull(first)) return std::nullopt;
  measure::LaunchSummary summary;
  summary.median_step_seconds = row.Real(first);
  summary.mean_step_seconds = row.Real(first + 1);
  summary.min_step_seconds = row.Real(first + 2);
  summary.max_step_seconds = row.Real(first + 3);
  summary.p95_step_seconds = row.OptionalReal(first + 4);
  summary.p99_step_seconds = row.OptionalReal(first + 5);
  summary.steps = row.Int(first + 6);
  summary.warmup_steps = row.Int(first + 7);
  summary.blocks = row.Int(first + 8);
  summary.minimum_block_steps = row.Int(first + 9);
  summary.minimum_block_ns = row.Int(first + 10);
  return summary;
}

Result<LaunchRow> ReadLaunch(const Statement& row) {
  LaunchRow launch;
  launch.campaign = row.Int(0);
  launch.configuration = row.Int(1);
  launch.round = row.Int(2);
  launch.position = row.Int(3);
  launch.purpose = row.Text(4);
  launch.status = row.Text(5);
  launch.reason = row.Text(6);
  launch.signal = OptionalWhole(row, 7);
  launch.exit_status = OptionalWhole(row, 8);
  launch.log_tail = row.Text(9);
  launch.folder = row.Text(10);
  launch.started = row.Text(11);
  launch.request_ns = row.Int(12);
  launch.reply_ns = row.Int(13);
  launch.cpu_seconds = row.Real(14);
  launch.threads_used = row.Real(15);
  launch.peak_memory_bytes = std::bit_cast<std::uint64_t>(row.Int(16));
  launch.ready_seconds = row.Real(17);
  launch.prepare_seconds = row.Real(18);
  launch.first_step_seconds = row.Real(19);
  launch.parameter_checksum = row.Text(20);
  DLBENCH_ASSIGN_OR_RETURN(launch.disturbance, NumberMapFromJson(row.Text(21)));
  launch.summary = ReadSummary(row, 22);
  launch.id = row.Int(34);
  if (auto records = measure::DecodeRecords(row.Bytes(33))) {
    launch.records = std::move(*records);
  } else {
    launch.status = "damaged";
    launch.reason = "the stored records of launch " + std::to_string(launch.id) +
                    " are torn: it is not counted; 'dlbench check' says more";
    launch.summary.reset();
  }
  return launch;
}

/// Why the records of `launch` must not be stored; empty if they may.
std::string Objection(const LaunchRow& launch, const std::optional<VerificationRow>& verification) {
  if (launch.records.empty()) return launch.summary ? "a summary without records" : "";
  if (launch.purpose != "timed" || launch.status != "done") {
    return "records of a launch that is '" + launch.purpose + "' and '" + launch.status + "'";
  }
  if (verification && verification->result.status != verify::GateStatus::kEqual) {
    return "records of a launch that the gate found " +
           verify::ToString(verification->result.status);
  }
  return "";
}

/// The given summary, or the one of the records.
std::optional<measure::LaunchSummary> SummaryOf(const LaunchRow& launch) {
  return launch.summary ? launch.summary : measure::Summarize(launch.records);
}

}  // namespace

Result<std::int64_t> SqliteStore::AddLaunch(const LaunchRow& launch,
                                            const std::optional<VerificationRow>& verification) {
  const std::string objection = Objection(launch, verification);
  if (!objection.empty()) return Error(ErrorCode::kInternal, "not stored: " + objection);
  const auto summary = SummaryOf(launch);
  if (!launch.records.empty() && !summary) {
    return Error(ErrorCode::kInternal,
                 "not stored: records without steps or with times that run "
                 "backwards");
  }
  std::vector<Value> values = LaunchValues(launch);
  AppendRecords(values, launch, summary);

  DLBENCH_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection_));
  DLBENCH_RETURN_IF_ERROR(connection_.Execute(kInsertLaunch, values));
  const std::int64_t id = connection_.LastInsertId();
  if (verification) DLBENCH_RETURN_IF_ERROR(AddVerification(id, *verification));
  DLBENCH_RETURN_IF_ERROR(connection_.Execute(
      "DELETE FROM in_flight WHERE campaign = ? AND configuration = ? AND round = ?",
      {Int(launch.campaign), Int(launch.configuration), Int(launch.round)}));
  DLBENCH_RETURN_IF_ERROR(transaction.Commit());
  campaign_ = launch.campaign;
  return id;
}

Result<std::vector<LaunchRow>> SqliteStore::Launches(std::int64_t campaign) {
  DLBENCH_ASSIGN_OR_RETURN(Statement row, connection_.Query(kSelectLaunches, {Int(campaign)}));
  std::vector<LaunchRow> launches;
  while (true) {
    DLBENCH_ASSIGN_OR_RETURN(const bool more, row.Step());
    if (!more) return launches;
    DLBENCH_ASSIGN_OR_RETURN(LaunchRow launch, ReadLaunch(row));
    launches.push_back(std::move(launch));
  }
}

Status SqliteStore::BeginLaunch(std::int64_t campaign, std::int64_t configuration,
                                std::int64_t round) {
  campaign_ = campaign;
  return connection_.Execute(
      "INSERT OR REPLACE INTO in_flight (campaign, configuration, round) VALUES (?,?,?)",
      {Int(campaign), Int(configuration), Int(round)});
}

Result<std::int64_t> SqliteStore::TakeIncomplete() {
  DLBENCH_RETURN_IF_ERROR(connection_.Execute("DELETE FROM in_flight"));
  return connection_.Changes();
}

}  // namespace dlbench::store
