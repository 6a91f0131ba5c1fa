#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "measure/warmup.h"
#include "store/sqlite_store.h"

namespace dlbench::store {
namespace {

/// The formulas are the same, but another compiler may round the last digits otherwise.
constexpr double kRelativeTolerance = 1e-12;

constexpr const char* kSelectFigures =
    "SELECT l.id, l.campaign, l.round, l.purpose, l.status, coalesce(v.status, 'equal'),"
    " l.request_ns, l.reply_ns, l.records, l.median_step_seconds, l.mean_step_seconds,"
    " l.min_step_seconds, l.max_step_seconds, l.p95_step_seconds, l.p99_step_seconds, l.steps,"
    " l.blocks, l.minimum_block_steps, l.minimum_block_ns, coalesce(l.warmup_steps, 0)"
    " FROM launch l LEFT JOIN verification v ON v.launch = l.id ORDER BY l.id";
constexpr int kRecordsColumn = 8;
constexpr int kFirstFigure = 9;
constexpr int kFigures = 8;

bool Agree(const std::optional<double>& stored, const std::optional<double>& derived) {
  if (!stored || !derived) return stored.has_value() == derived.has_value();
  const double larger = std::max(std::abs(*stored), std::abs(*derived));
  return std::abs(*stored - *derived) <= kRelativeTolerance * larger;
}

std::string Shown(const std::optional<double>& figure) {
  return figure ? fmt::format("{}", *figure) : "nothing";
}

/// Checks one launch and adds what it finds to `check`.
class LaunchChecker {
 public:
  LaunchChecker(const Statement& row, FigureCheck& check) : row_(row), check_(check) {}

  void Run() {
    ++check_.launches;
    if (row_.IsNull(kRecordsColumn)) {
      CheckWithoutRecords();
    } else {
      CheckRecords();
    }
  }

 private:
  void Report(const std::string& text) {
    check_.disagreements.push_back(fmt::format("launch {} (campaign {}, round {}): {}", row_.Int(0),
                                               row_.Int(1), row_.Int(2), text));
  }

  void CheckWithoutRecords() {
    if (row_.Text(3) == "timed" && row_.Text(4) == "done" && row_.Text(5) == "equal") {
      Report("it is timed and done, but holds no records");
    }
    for (int i = 0; i < kFigures; ++i) {
      if (row_.IsNull(kFirstFigure + i)) continue;
      Report("it holds figures without records");
      return;
    }
  }

  void CheckRecords() {
    if (row_.Text(3) != "timed" || row_.Text(4) != "done") {
      Report(fmt::format("it is '{}' and '{}', but holds records", row_.Text(3), row_.Text(4)));
    }
    if (row_.Text(5) != "equal") {
      Report(fmt::format("the gate found it {}, but it holds records", row_.Text(5)));
    }
    const auto records = measure::DecodeRecords(row_.Bytes(kRecordsColumn));
    if (!records) {
      Report("its records are torn: their size is no multiple of 20 bytes");
      return;
    }
    const auto derived = measure::Summarize(
        measure::AfterWarmup(*records, row_.Int(kFirstFigure + kFigures + 2)),
        row_.Int(kFirstFigure + kFigures), row_.Int(kFirstFigure + kFigures + 1));
    if (!derived) {
      Report("its records hold no steps or times that run backwards");
      return;
    }
    Compare("median_step_seconds", 0, derived->median_step_seconds);
    Compare("mean_step_seconds", 1, derived->mean_step_seconds);
    Compare("min_step_seconds", 2, derived->min_step_seconds);
    Compare("max_step_seconds", 3, derived->max_step_seconds);
    Compare("p95_step_seconds", 4, derived->p95_step_seconds);
    Compare("p99_step_seconds", 5, derived->p99_step_seconds);
    Compare("steps", 6, static_cast<double>(derived->steps));
    Compare("blocks", 7, static_cast<double>(derived->blocks));
    CheckBracket(*records);
  }

  void Compare(const char* name, int figure, const std::optional<double>& derived) {
    const auto stored = row_.OptionalReal(kFirstFigure + figure);
    if (!stored && !derived) return;
    ++check_.figures;
    if (Agree(stored, derived)) return;
    Report(fmt::format("{} is stored as {}, its records give {}", name, Shown(stored),
                       Shown(derived)));
  }

  /// What the adapter timed cannot be longer than what was seen from outside.
  void CheckBracket(const std::vector<measure::StepRecord>& records) {
    const std::int64_t bracket_ns = row_.Int(7) - row_.Int(6);
    if (row_.Int(6) == 0 || row_.Int(7) == 0) return;
    std::int64_t timed_ns = 0;
    for (const measure::StepRecord& record : records) timed_ns += record.end_ns - record.begin_ns;
    if (timed_ns <= bracket_ns) return;
    Report(fmt::format("its records add up to {} ns, but request and reply are {} ns apart",
                       timed_ns, bracket_ns));
  }

  const Statement& row_;
  FigureCheck& check_;
};

}  // namespace

Result<FigureCheck> SqliteStore::CheckAll() {
  FigureCheck check;
  DLBENCH_ASSIGN_OR_RETURN(Statement integrity, connection_.Query("PRAGMA integrity_check"));
  while (true) {
    DLBENCH_ASSIGN_OR_RETURN(const bool more, integrity.Step());
    if (!more) break;
    if (integrity.Text(0) != "ok") check.disagreements.push_back("file: " + integrity.Text(0));
  }
  DLBENCH_ASSIGN_OR_RETURN(const std::int64_t orphans,
                           connection_.QueryInt("SELECT count(*) FROM pragma_foreign_key_check"));
  if (orphans > 0) {
    check.disagreements.push_back(
        fmt::format("file: {} rows refer to rows that are gone", orphans));
  }
  DLBENCH_ASSIGN_OR_RETURN(Statement row, connection_.Query(kSelectFigures));
  while (true) {
    DLBENCH_ASSIGN_OR_RETURN(const bool more, row.Step());
    if (!more) return check;
    LaunchChecker(row, check).Run();
  }
}

Result<std::vector<std::string>> Store::CheckFigures() {
  DLBENCH_ASSIGN_OR_RETURN(FigureCheck check, CheckAll());
  return std::move(check.disagreements);
}

}  // namespace dlbench::store
