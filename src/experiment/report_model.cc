#include "experiment/report_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "experiment/machine_record.h"
#include "machine/machine.h"
#include "measure/plausible.h"
#include "report/sentence.h"
#include "stats/stats.h"
#include "worker/worker.h"

namespace dlbench::experiment {
namespace {

using report::ResultRow;

/// Fewest launches that state an interval.
constexpr std::size_t kLeastLaunches = 6;

/// Everything stored about one configuration.
struct Evidence {
  store::Configuration configuration;
  std::map<std::int64_t, store::LaunchRow>
      launches;  ///< The latest of each round; -1: the gate launch.
  std::map<std::int64_t, store::VerificationRow> verifications;  ///< By launch.

  /// Timed launches that are done and proved equal, in round order.
  std::vector<const store::LaunchRow*> Good() const {
    std::vector<const store::LaunchRow*> good;
    for (const auto& [round, launch] : launches) {
      if (round >= 0 && launch.status == "done" && launch.summary) good.push_back(&launch);
    }
    return good;
  }
  std::vector<const store::LaunchRow*> Failed() const {
    std::vector<const store::LaunchRow*> failed;
    for (const auto& [round, launch] : launches) {
      if (launch.status != "done") failed.push_back(&launch);
    }
    return failed;
  }
};

void Describe(const store::Configuration& from, ResultRow& row) {
  row.framework = from.framework;
  row.framework_title = from.framework;
  row.framework_version = from.framework_version;
  row.language = from.language;
  row.preset = from.preset;
  row.mode_label = from.mode_label.empty() ? "unknown" : from.mode_label;
  row.network = from.network;
  row.network_title = from.network_title;
  row.variant = from.variant;
  row.data = from.data;
  row.synthetic = from.synthetic;
  row.batch = from.batch;
  row.device = from.device;
  row.mode = from.mode;
  row.precision = from.precision;
  row.input = from.input;
  row.threads = from.threads;
  row.settings = from.effective_settings;
}

/// Of each quantity the check that used most of its limit; a failed one comes before any that
/// passed.
std::vector<verify::Check> WorstChecks(const std::vector<const verify::GateResult*>& results) {
  const auto used = [](const verify::Check& check) {
    if (!check.error.finite || !check.passed) return 1e300;
    const double norm = check.norm_limit > 0 ? check.error.norm_relative / check.norm_limit : 0.0;
    const double worst =
        check.worst_limit > 0 ? check.error.worst_over_rms / check.worst_limit : 0.0;
    return std::max(norm, worst);
  };
  std::map<verify::Quantity, verify::Check> worst;
  for (const verify::GateResult* result : results) {
    for (const verify::Check& check : result->checks) {
      if (!check.decidable && check.passed) continue;
      const auto [entry, added] = worst.emplace(check.quantity, check);
      if (!added && used(check) > used(entry->second)) entry->second = check;
    }
  }
  std::vector<verify::Check> list;
  for (const auto& [quantity, check] : worst) list.push_back(check);
  return list;
}

std::optional<ResultRow::Verification> Verify(const Evidence& evidence) {
  if (evidence.verifications.empty()) return std::nullopt;
  ResultRow::Verification verification;
  verification.status = "equal";
  std::vector<const verify::GateResult*> results;
  for (const auto& [launch, row] : evidence.verifications) {
    results.push_back(&row.result);
    (row.level == "full" ? verification.full_launches : verification.light_launches) += 1;
    verification.steps = std::max(verification.steps, row.result.steps);
    if (verification.blind_spots.empty()) verification.blind_spots = row.result.blind_spots;
    if (row.result.status == verify::GateStatus::kEqual || verification.status != "equal") continue;
    verification.status = verify::ToString(row.result.status);
    verification.reason = row.result.reason;
    verification.diagnosis = row.result.diagnosis;
  }
  verification.worst = WorstChecks(results);
  return verification;
}

void TakeFailure(const store::LaunchRow& launch, ResultRow& row) {
  row.failure_kind = launch.status;
  row.reason = launch.reason;
  row.signal = launch.signal;
  row.log_tail = launch.log_tail;
  row.status = launch.status == worker::ToString(worker::FailureKind::kUnsupported) ? "unsupported"
                                                                                    : "failed";
}

void TakeTimes(const Evidence& evidence, const std::vector<machine::Peak>& peaks, ResultRow& row) {
  std::vector<double> medians, means, threads, first_steps;
  std::uint64_t memory = 0;
  for (const store::LaunchRow* launch : evidence.Good()) {
    medians.push_back(launch->summary->median_step_seconds);
    means.push_back(launch->summary->mean_step_seconds);
    threads.push_back(launch->threads_used);
    first_steps.push_back(launch->first_step_seconds);
    memory = std::max(memory, launch->peak_memory_bytes);
  }
  row.step_time = measure::EstimateStepTime(medians);
  if (!row.step_time) return;
  const double seconds = row.step_time->estimate;
  const double flops = evidence.configuration.flops_per_step;
  const int asked = evidence.configuration.threads;
  if (const auto fma = machine::FindPeak(peaks, "fma_float32", asked)) {
    if (const auto why = measure::Impossible(flops, seconds, *fma)) {
      row.step_time.reset();
      row.status = "impossible";
      row.reason = *why;
      return;
    }
  }
  row.status = "timed";
  row.mean_step_seconds = stats::Median(means);
  row.samples_per_second = measure::SamplesPerSecond(evidence.configuration.batch, seconds);
  row.threads_used = stats::Median(threads);
  row.first_step_seconds = stats::Median(first_steps);
  if (memory > 0) row.peak_memory_bytes = memory;
  if (const auto gemm = machine::FindPeak(peaks, "gemm_float32", asked)) {
    row.percent_of_peak = 100.0 * flops / seconds / *gemm;
  }
}

ResultRow MakeRow(const Evidence& evidence, const std::vector<machine::Peak>& peaks) {
  ResultRow row;
  Describe(evidence.configuration, row);
  row.verification = Verify(evidence);
  const auto good = evidence.Good();
  const auto failed = evidence.Failed();
  row.launches_attempted = static_cast<std::int64_t>(evidence.launches.size());
  row.launches_failed = static_cast<std::int64_t>(failed.size());
  if (row.verification && row.verification->status != "equal") {
    row.status = "unequal";
    row.reason = row.verification->reason;
    return row;
  }
  const bool enough = failed.empty() || good.size() >= kLeastLaunches;
  if (!enough) {
    TakeFailure(*failed.front(), row);
    return row;
  }
  if (good.empty()) {
    if (row.verification) {
      row.status = "verified";
      row.reason = "proved equal, not timed";
    } else {
      row.status = "failed";
      row.failure_kind = worker::ToString(worker::FailureKind::kInterrupted);
      row.reason = "not run before the campaign was stopped; --resume goes on";
    }
    return row;
  }
  TakeTimes(evidence, peaks, row);
  return row;
}

std::string LabelOf(const ResultRow& row) { return row.framework + " " + row.preset; }

/// What two results must share to be compared.
auto GroupOf(const store::Configuration& configuration) {
  return std::tuple(configuration.network, configuration.variant, configuration.network_hash,
                    configuration.data_hash, configuration.batch, configuration.mode,
                    configuration.device, configuration.precision, configuration.input,
                    configuration.threads);
}

measure::Comparison CompareRounds(const Evidence& a, const Evidence& b, double margin) {
  std::vector<double> a_seconds, b_seconds;
  for (const store::LaunchRow* launch : a.Good()) {
    const auto other = b.launches.find(launch->round);
    if (other == b.launches.end() || other->second.status != "done" || !other->second.summary) {
      continue;
    }
    a_seconds.push_back(launch->summary->median_step_seconds);
    b_seconds.push_back(other->second.summary->median_step_seconds);
  }
  return measure::Compare(a_seconds, b_seconds, margin).value_or(measure::Comparison{});
}

/// The fastest of each group against every other timed one.
void AddComparisons(const std::vector<Evidence>& evidence, double margin, report::Report& report) {
  std::map<decltype(GroupOf(evidence.front().configuration)), std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const ResultRow& row = report.results[i];
    // A mode that nobody knows is never ranked beside known ones (case C06).
    if (row.status != "timed" || row.mode_label == "unknown") continue;
    groups[GroupOf(evidence[i].configuration)].push_back(i);
  }
  std::vector<report::ComparisonRow> rows;
  for (auto& [group, members] : groups) {
    const std::size_t fastest =
        *std::min_element(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
          return report.results[a].step_time->estimate < report.results[b].step_time->estimate;
        });
    for (const std::size_t other : members) {
      if (other == fastest) continue;
      report::ComparisonRow row;
      row.a = LabelOf(report.results[fastest]);
      row.b = LabelOf(report.results[other]);
      row.a_index = fastest;
      row.b_index = other;
      row.comparison = CompareRounds(evidence[fastest], evidence[other], margin);
      if (row.comparison.rounds > 0) rows.push_back(std::move(row));
    }
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::pair(a.a_index, a.b_index) < std::pair(b.a_index, b.b_index);
  });
  report.comparisons = std::move(rows);
}

Result<std::vector<Evidence>> LoadEvidence(store::Store& store, std::int64_t campaign) {
  DLBENCH_ASSIGN_OR_RETURN(const auto configurations, store.Configurations(campaign));
  DLBENCH_ASSIGN_OR_RETURN(const auto launches, store.Launches(campaign));
  DLBENCH_ASSIGN_OR_RETURN(const auto verifications, store.Verifications(campaign));
  std::map<std::int64_t, std::size_t> index;
  std::vector<Evidence> evidence;
  for (const store::Configuration& configuration : configurations) {
    index[configuration.id] = evidence.size();
    evidence.push_back({configuration, {}, {}});
  }
  std::map<std::int64_t, std::size_t> owner;
  for (const store::LaunchRow& launch : launches) {
    const std::size_t at = index.at(launch.configuration);
    store::LaunchRow& latest = evidence[at].launches[std::max<std::int64_t>(launch.round, -1)];
    if (latest.id <= launch.id) latest = launch;
    owner[launch.id] = at;
  }
  for (const store::VerificationRow& row : verifications) {
    Evidence& of = evidence[owner.at(row.launch)];
    const bool current =
        std::any_of(of.launches.begin(), of.launches.end(),
                    [&](const auto& entry) { return entry.second.id == row.launch; });
    // A launch that was unequal once counts, also where a resumed campaign repeated it.
    if (current || row.result.status != verify::GateStatus::kEqual)
      of.verifications[row.launch] = row;
  }
  return evidence;
}

}  // namespace

Result<report::Report> BuildReport(store::Store& store, std::int64_t campaign,
                                   const std::string& results_folder) {
  DLBENCH_ASSIGN_OR_RETURN(const auto campaigns, store.Campaigns());
  const auto found = std::find_if(campaigns.begin(), campaigns.end(), [&](const auto& entry) {
    return campaign == 0 || entry.id == campaign;
  });
  if (found == campaigns.end()) {
    return Error(ErrorCode::kNotFound,
                 campaign == 0
                     ? fmt::format("'{}' holds no campaign yet", results_folder)
                     : fmt::format("'{}' holds no campaign {}", results_folder, campaign));
  }
  const nlohmann::json plan = nlohmann::json::parse(found->plan_json, nullptr, false);
  report::Report report;
  report.dlbench_version = found->dlbench_version;
  report.started = found->started;
  report.command_line = found->command_line;
  report.machine_json = found->machine_json;
  report.machine_summary = MachineLine(found->machine_json);
  report.results_folder = results_folder;
  report.finished = found->finished;
  report.quick = plan.is_object() && plan.value("quick", false);
  const double margin = plan.is_object() ? plan.value("margin", 0.05) : 0.05;
  DLBENCH_ASSIGN_OR_RETURN(const auto evidence, LoadEvidence(store, found->id));
  const auto peaks = PeaksOf(found->machine_json);
  for (const Evidence& entry : evidence) report.results.push_back(MakeRow(entry, peaks));
  if (!evidence.empty()) AddComparisons(evidence, margin, report);
  for (const Evidence& entry : evidence) {
    for (const store::LaunchRow* launch : entry.Failed()) {
      if (launch->status == "damaged") report.warnings.push_back(launch->reason);
    }
  }
  if (!report.finished) report.warnings.push_back("the campaign is not finished; --resume goes on");
  report.sentence = report::BuildSentence(report);
  return report;
}

}  // namespace dlbench::experiment
