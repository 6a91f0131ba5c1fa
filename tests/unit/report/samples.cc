#include "samples.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/sentence.h"

namespace dlbench::report {

ResultRow TimedRow(const std::string& framework, double step_seconds) {
  ResultRow row;
  row.framework = framework;
  row.framework_title = framework;
  row.framework_version = "2.7";
  row.language = "c++";
  row.preset = "default";
  row.mode_label = "compiled";
  row.network = "fcn-r";
  row.network_title = "FCN-R";
  row.data = "Fashion-MNIST";
  row.batch = 64;
  row.device = "cpu";
  row.mode = "train";
  row.precision = "float32";
  row.input = "resident";
  row.threads = 2;
  row.status = "timed";
  row.verification = ResultRow::Verification{};
  row.verification->status = "equal";
  row.verification->steps = 5;
  verify::Check check;
  check.moment = "before";
  check.error.norm_relative = 2.5e-7;
  check.norm_limit = 2e-6;
  check.worst_limit = 1e-5;
  row.verification->worst = {check};
  row.step_time = measure::StepTime{};
  row.step_time->estimate = step_seconds;
  row.step_time->low = step_seconds * 0.97;
  row.step_time->high = step_seconds * 1.02;
  row.step_time->launches = 10;
  row.mean_step_seconds = step_seconds * 1.01;
  row.samples_per_second = measure::SamplesPerSecond(64, step_seconds);
  row.percent_of_peak = 5.24681216e9 / step_seconds / 2e11 * 100;
  row.threads_used = 1.96;
  row.first_step_seconds = 0.5;
  row.peak_memory_bytes = 400'000'000;
  row.launches_attempted = 10;
  row.settings = {{"OMP_NUM_THREADS", "2"}};
  return row;
}

ResultRow RowWithStatus(const std::string& framework, const std::string& status) {
  ResultRow row = TimedRow(framework, 0.0123456789);
  row.status = status;
  row.reason = "because of " + status;
  return row;
}

ComparisonRow Compared(const Report& report, std::size_t a, std::size_t b,
                       measure::VerdictWord verdict, double half_width) {
  ComparisonRow row;
  const ResultRow& first = report.results[a];
  const ResultRow& second = report.results[b];
  row.a = first.framework + " " + first.preset;
  row.b = second.framework + " " + second.preset;
  row.a_index = a;
  row.b_index = b;
  row.comparison.ratio = second.step_time->estimate / first.step_time->estimate;
  row.comparison.low = row.comparison.ratio - half_width;
  row.comparison.high = row.comparison.ratio + half_width;
  row.comparison.rounds = 10;
  row.comparison.verdict = verdict;
  row.comparison.detectable_effect = 0.0712;
  return row;
}

Report GoodReport() {
  Report report;
  report.dlbench_version = "0.1.0";
  report.started = "2026-11-30T23:05:00Z";
  report.command_line = "dlbench run --network fcn-r";
  report.machine_summary = "2 cores of a test machine";
  report.machine_json = R"({"cpu":{"model":"test"}})";
  report.results_folder = "dlbench-results/1";
  report.results = {TimedRow("onednn", 0.0321), TimedRow("libtorch", 0.0402),
                    TimedRow("pytorch", 0.0438165)};
  report.comparisons = {Compared(report, 0, 1, measure::VerdictWord::kFaster),
                        Compared(report, 0, 2, measure::VerdictWord::kFaster)};
  report.sentence = BuildSentence(report);
  return report;
}

Report MixedReport() {
  Report report = GoodReport();
  report.results.insert(report.results.begin() + 1, RowWithStatus("caffe", "failed"));
  ResultRow& crashed = report.results[1];
  crashed.step_time.reset();
  crashed.reason = "crashed with SIGSEGV in launch 1";
  crashed.failure_kind = "crashed";
  crashed.signal = 11;
  crashed.log_tail = "loading\nSegmentation fault\n";
  crashed.launches_failed = 10;
  crashed.verification.reset();
  report.results.push_back(RowWithStatus("mxnet", "unequal"));
  ResultRow& unequal = report.results.back();
  unequal.verification->status = "unequal";
  unequal.verification->reason = "gradient of fc3.weight differs";
  unequal.verification->diagnosis = "weight decay of 1e-05 is applied";
  unequal.verification->worst.front().passed = false;
  unequal.verification->worst.front().quantity = verify::Quantity::kGradient;
  unequal.verification->worst.front().tensor = "fc3.weight";
  report.results.push_back(RowWithStatus("cntk", "unsupported"));
  report.comparisons = {Compared(report, 0, 2, measure::VerdictWord::kFaster),
                        Compared(report, 0, 3, measure::VerdictWord::kUnresolved, 0.5)};
  report.warnings = {"1 of 6 configurations failed"};
  report.sentence = BuildSentence(report);
  return report;
}

std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> records{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        records.back().back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        records.back().back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      EXPECT_TRUE(records.back().back().empty());
      quoted = true;
    } else if (c == ',') {
      records.back().emplace_back();
    } else if (c == '\r') {
      EXPECT_LT(i + 1, text.size());
      EXPECT_EQ(text[++i], '\n');
      records.push_back({""});
    } else {
      EXPECT_NE(c, '\n');
      records.back().back() += c;
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(records.back(), std::vector<std::string>{""});
  records.pop_back();
  for (const auto& record : records) EXPECT_EQ(record.size(), records.front().size());
  return records;
}

std::string CsvCell(const std::vector<std::vector<std::string>>& records, std::size_t record,
                    const std::string& name) {
  const auto& names = records.at(0);
  const auto found = std::find(names.begin(), names.end(), name);
  EXPECT_NE(found, names.end()) << name;
  return records.at(record + 1).at(static_cast<std::size_t>(found - names.begin()));
}

}  // namespace dlbench::report
