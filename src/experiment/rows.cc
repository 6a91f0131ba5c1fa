#include "experiment/rows.h"

#include <algorithm>
#include <map>

#include "measure/warmup.h"
#include "network/cost.h"

namespace dlbench::experiment {

store::Configuration ConfigurationOf(const Arm& arm, const Case& inputs, const worker::Hello& hello,
                                     const std::map<std::string, std::string>& settings) {
  const network::Network& network = inputs.network();
  store::Configuration row;
  row.framework = arm.installation.name;
  row.framework_version = hello.framework_version;
  row.language = hello.language;
  row.installation = arm.installation.id;
  row.preset = arm.preset;
  const auto mode = hello.mode_labels.find(arm.preset);
  row.mode_label = mode == hello.mode_labels.end() ? "unknown" : mode->second;
  row.network = network.name;
  row.network_title = network.title;
  row.variant = network.variant;
  row.network_hash = inputs.network_hash();
  row.data = inputs.data().name;
  row.data_source = inputs.data().source;
  row.data_hash = inputs.data().hash;
  row.synthetic = inputs.data().synthetic;
  row.batch = arm.batch;
  row.mode = arm.mode;
  row.device = arm.device;
  row.precision = arm.precision;
  row.input = arm.input;
  row.threads = arm.threads;
  row.flops_per_step = static_cast<double>(network::TrainingStepFlops(network, arm.batch));
  row.settings = settings;
  return row;
}

store::LaunchRow LaunchRowOf(const LaunchPlace& place, const LaunchObservation& seen,
                             const Judgement& judgement) {
  store::LaunchRow row;
  row.campaign = place.campaign;
  row.configuration = place.configuration;
  row.round = place.round;
  row.position = place.position;
  row.purpose = place.round < 0 ? "gate" : "timed";
  row.folder = place.folder;
  row.started = place.started;
  row.ready_seconds = seen.ready_seconds;
  row.prepare_seconds = seen.prepare_seconds;
  row.first_step_seconds = seen.first_step_seconds;
  if (seen.run) {
    row.cpu_seconds = seen.run->cpu_seconds;
    row.threads_used = worker::ThreadsUsed(*seen.run);
    row.request_ns = seen.run->request_ns;
    row.reply_ns = seen.run->reply_ns;
  }
  if (seen.finished) {
    row.peak_memory_bytes =
        std::max(seen.finished->peak_memory_bytes, seen.finished->observed_peak_bytes);
    row.parameter_checksum = seen.finished->parameter_checksum;
  }
  if (judgement.failure) {
    row.status = worker::ToString(judgement.failure->kind);
    row.reason = judgement.failure->message;
    row.signal = judgement.failure->signal;
    row.exit_status = judgement.failure->exit_status;
    row.log_tail = judgement.failure->log_tail;
    return row;
  }
  row.status = "done";
  // A timing of a network that was not proved the same is not kept at all.
  if (row.purpose != "timed" || judgement.gate->status != verify::GateStatus::kEqual) return row;
  row.records = seen.run->records;
  row.summary = measure::Summarize(measure::AfterWarmup(row.records, place.warmup_steps));
  if (row.summary) row.summary->warmup_steps = place.warmup_steps;
  return row;
}

}  // namespace dlbench::experiment
