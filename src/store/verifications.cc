#include <cmath>
#include <limits>
#include <string>

#include "core/text.h"
#include "store/column_text.h"
#include "store/sqlite_store.h"

namespace dlbench::store {
namespace {

using verify::GateStatus;
using verify::Quantity;

Value Text(const std::string& text) { return SanitizeUtf8(text); }
Value Int(std::int64_t number) { return number; }
Value Flag(bool flag) { return std::int64_t{flag ? 1 : 0}; }

/// SQLite has no NaN: it is stored as NULL, and an infinity as itself.
Value Real(double number) { return std::isnan(number) ? Value() : Value(number); }
double ReadReal(const Statement& row, int column) {
  return row.IsNull(column) ? std::numeric_limits<double>::quiet_NaN() : row.Real(column);
}

Result<Quantity> ParseQuantity(const std::string& text) {
  for (const Quantity quantity :
       {Quantity::kLogits, Quantity::kLoss, Quantity::kGradient, Quantity::kUpdate,
        Quantity::kRunLoss, Quantity::kRunUpdate, Quantity::kRunState}) {
    if (verify::ToString(quantity) == text) return quantity;
  }
  return Error(ErrorCode::kInput, "unknown quantity '" + text + "' in a stored check");
}

Result<GateStatus> ParseStatus(const std::string& text) {
  for (const GateStatus status :
       {GateStatus::kEqual, GateStatus::kUnequal, GateStatus::kMistrusted}) {
    if (verify::ToString(status) == text) return status;
  }
  return Error(ErrorCode::kInput, "unknown gate status '" + text + "' in a stored verification");
}

std::vector<Value> CheckValues(std::int64_t launch, std::int64_t number,
                               const verify::Check& check) {
  return {Int(launch),
          Int(number),
          verify::ToString(check.quantity),
          Text(check.tensor),
          Text(check.moment),
          Int(check.steps),
          Real(check.error.norm_relative),
          Real(check.error.worst_over_rms),
          Real(check.error.cosine_distance),
          Flag(check.error.finite),
          Real(check.norm_limit),
          Real(check.worst_limit),
          Flag(check.decidable),
          Flag(check.passed)};
}

Result<verify::Check> ReadCheck(const Statement& row) {
  verify::Check check;
  DLBENCH_ASSIGN_OR_RETURN(check.quantity, ParseQuantity(row.Text(0)));
  check.tensor = row.Text(1);
  check.moment = row.Text(2);
  check.steps = row.Int(3);
  check.error.norm_relative = ReadReal(row, 4);
  check.error.worst_over_rms = ReadReal(row, 5);
  check.error.cosine_distance = ReadReal(row, 6);
  check.error.finite = row.Int(7) != 0;
  check.norm_limit = ReadReal(row, 8);
  check.worst_limit = ReadReal(row, 9);
  check.decidable = row.Int(10) != 0;
  check.passed = row.Int(11) != 0;
  return check;
}

}  // namespace

Status SqliteStore::AddVerification(std::int64_t launch, const VerificationRow& verification) {
  const verify::GateResult& result = verification.result;
  DLBENCH_RETURN_IF_ERROR(connection_.Execute(
      "INSERT INTO verification (launch, level, status, steps, reason, diagnosis, blind_spots)"
      " VALUES (?,?,?,?,?,?,?)",
      {Int(launch), Text(verification.level), verify::ToString(result.status), Int(result.steps),
       Text(result.reason), Text(result.diagnosis), ToJson(result.blind_spots)}));
  std::int64_t number = 0;
  for (const verify::Check& check : result.checks) {
    DLBENCH_RETURN_IF_ERROR(connection_.Execute(
        "INSERT INTO verification_check (launch, number, quantity, tensor, moment, steps,"
        " norm_relative, worst_over_rms, cosine_distance, finite, norm_limit, worst_limit,"
        " decidable, passed) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        CheckValues(launch, number, check)));
    ++number;
  }
  return {};
}

Status SqliteStore::ReadChecks(VerificationRow& row) {
  DLBENCH_ASSIGN_OR_RETURN(
      Statement statement,
      connection_.Query("SELECT quantity, tensor, moment, steps, norm_relative, worst_over_rms,"
                        " cosine_distance, finite, norm_limit, worst_limit, decidable, passed"
                        " FROM verification_check WHERE launch = ? ORDER BY number",
                        {Int(row.launch)}));
  while (true) {
    DLBENCH_ASSIGN_OR_RETURN(const bool more, statement.Step());
    if (!more) return {};
    DLBENCH_ASSIGN_OR_RETURN(verify::Check check, ReadCheck(statement));
    row.result.checks.push_back(std::move(check));
  }
}

Result<std::vector<VerificationRow>> SqliteStore::Verifications(std::int64_t campaign) {
  DLBENCH_ASSIGN_OR_RETURN(
      Statement statement,
      connection_.Query("SELECT v.launch, v.level, v.status, v.steps, v.reason, v.diagnosis,"
                        " v.blind_spots FROM verification v JOIN launch l ON l.id = v.launch"
                        " WHERE l.campaign = ? ORDER BY v.launch",
                        {Int(campaign)}));
  std::vector<VerificationRow> rows;
  while (true) {
    DLBENCH_ASSIGN_OR_RETURN(const bool more, statement.Step());
    if (!more) return rows;
    VerificationRow row;
    row.launch = statement.Int(0);
    row.level = statement.Text(1);
    DLBENCH_ASSIGN_OR_RETURN(row.result.status, ParseStatus(statement.Text(2)));
    row.result.steps = statement.Int(3);
    row.result.reason = statement.Text(4);
    row.result.diagnosis = statement.Text(5);
    DLBENCH_ASSIGN_OR_RETURN(row.result.blind_spots, TextListFromJson(statement.Text(6)));
    DLBENCH_RETURN_IF_ERROR(ReadChecks(row));
    rows.push_back(std::move(row));
  }
}

}  // namespace dlbench::store
