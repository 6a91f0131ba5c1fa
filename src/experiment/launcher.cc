#include "experiment/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "core/file.h"
#include "frameworks/frameworks.h"
#include "measure/measure.h"
#include "verify/gate.h"

namespace dlbench::experiment {
namespace {

/// A gate launch runs about so long to calibrate the step time.
constexpr double kCalibrationSeconds = 0.3;
/// Work left after the answer to `run` that is still noise: an empty exchange takes well under a
/// millisecond.
constexpr double kLeftoverSeconds = 0.02;
constexpr double kLeftoverFraction = 0.05;

bool Has(const std::vector<std::string>& offered, const std::string& wanted) {
  return std::find(offered.begin(), offered.end(), wanted) != offered.end();
}

/// Why the adapter cannot be asked for `request`, judged by its `hello`; nothing if it can.
std::optional<worker::Failure> Refusal(const LaunchRequest& request, const worker::Hello& hello) {
  const Arm& arm = *request.arm;
  const auto refuse = [&](const std::string& what, const std::string& value) {
    worker::Failure failure;
    failure.kind = worker::FailureKind::kUnsupported;
    failure.message = fmt::format("{} does not offer {} '{}'", arm.installation.name, what, value);
    return failure;
  };
  if (!Has(hello.presets, arm.preset)) return refuse("the preset", arm.preset);
  if (!Has(hello.devices, arm.device)) return refuse("the device", arm.device);
  if (!Has(hello.precisions, arm.precision)) return refuse("the precision", arm.precision);
  if (!Has(hello.modes, arm.mode)) return refuse("the mode", arm.mode);
  if (!Has(hello.inputs, arm.input)) return refuse("input", arm.input);
  for (const network::Node& node : request.network->nodes) {
    if (!Has(hello.ops, node.op)) return refuse("the layer", node.op);
  }
  return std::nullopt;
}

/// One launch in progress: each phase returns false when it failed and has stored why.
class Conversation {
 public:
  Conversation(const LaunchRequest& request, Clock& clock) : request_(request), clock_(clock) {}

  LaunchObservation Run(const worker::LaunchSpec& spec, const volatile std::sig_atomic_t* stop) {
    const std::int64_t start = clock_.MonotonicNs();
    auto session = worker::Session::Start(spec, clock_, stop);
    if (!session.ok()) {
      seen_.failure = session.failure();
      return std::move(seen_);
    }
    session_ = std::move(*session);
    const bool gate_launch = request_.timed_steps == 0;
    (void)(Greet(start) && Prepare() && FirstStep() &&
           Verify("verify-before", request_.full_check && gate_launch, seen_.before) && MainRun() &&
           StepsAfterRun() && RunState() && WholeRun() &&
           Verify("verify-after", request_.full_check, seen_.after) && Finish());
    return std::move(seen_);
  }

 private:
  /// Keeps the value, or the failure.
  template <class T>
  bool Take(worker::Outcome<T> outcome, std::optional<T>& into) {
    if (!outcome.ok()) {
      seen_.failure = outcome.failure();
      return false;
    }
    into = std::move(*outcome);
    return true;
  }

  bool Fail(worker::FailureKind kind, std::string message) {
    worker::Failure failure;
    failure.kind = kind;
    failure.message = std::move(message);
    seen_.failure = std::move(failure);
    return false;
  }

  double SecondsSince(std::int64_t start_ns) const {
    return static_cast<double>(clock_.MonotonicNs() - start_ns) * 1e-9;
  }

  bool Greet(std::int64_t start) {
    if (!Take(session_->SayHello(), seen_.hello)) return false;
    seen_.ready_seconds = SecondsSince(start);
    seen_.failure = Refusal(request_, *seen_.hello);
    return !seen_.failure;
  }

  bool Prepare() {
    const Arm& arm = *request_.arm;
    worker::PrepareRequest prepare;
    prepare.network = request_.network;
    prepare.weights = request_.weights;
    prepare.batches = request_.batches;
    prepare.batch = arm.batch;
    prepare.pool = request_.pool;
    prepare.mode = arm.mode;
    prepare.device = arm.device;
    prepare.precision = arm.precision;
    prepare.threads = arm.threads;
    prepare.input = arm.input;
    prepare.preset = arm.preset;
    prepare.variant = request_.network->variant;
    prepare.settings = request_.settings;
    const std::int64_t start = clock_.MonotonicNs();
    if (!Take(session_->Prepare(prepare), seen_.prepared)) return false;
    seen_.prepare_seconds = SecondsSince(start);
    return true;
  }

  bool FirstStep() {
    std::optional<worker::Ran> ran;
    if (!Take(session_->Run({1, 1, 0, true}), ran)) return false;
    seen_.first_step_seconds = static_cast<double>(ran->reply_ns - ran->request_ns) * 1e-9;
    return true;
  }

  bool Verify(const std::string& folder, bool full, std::optional<worker::Verified>& into) {
    worker::VerifyRequest verify;
    verify.folder = folder;
    verify.batches = request_.sequence->batches;
    verify.learning_rates = request_.sequence->learning_rates;
    if (full) verify.weights_after = {1, verify::Gate::kSteps};
    verify.gradients = full && seen_.hello->gradients != "none";
    return Take(session_->Verify(verify), into);
  }

  /// Warm-up and timed steps; a gate launch measures first how many steps fill the calibration.
  bool MainRun() {
    std::int64_t steps = request_.warmup_steps + request_.timed_steps;
    if (request_.timed_steps == 0) {
      std::optional<worker::Ran> trial;
      if (!Take(session_->Run({verify::Gate::kRunSteps, request_.block_steps, 0, true}), trial)) {
        return false;
      }
      const auto summary = measure::Summarize(trial->records, 1, 0);
      if (!summary) return Fail(worker::FailureKind::kWrongResult, "the run has no usable times");
      steps =
          std::clamp<std::int64_t>(std::llround(kCalibrationSeconds / summary->median_step_seconds),
                                   verify::Gate::kRunSteps, 1000);
    }
    if (!Take(session_->Run({steps, request_.block_steps, 0, true}), seen_.run)) return false;
    const auto left = session_->Sync();
    if (!left.ok()) {
      seen_.failure = left.failure();
      return false;
    }
    const double run = static_cast<double>(seen_.run->reply_ns - seen_.run->request_ns) * 1e-9;
    if (*left > std::max(kLeftoverSeconds, kLeftoverFraction * run)) {
      return Fail(worker::FailureKind::kWrongResult,
                  fmt::format("the adapter answered before its work was done: {:.3f} s were left "
                              "after a run of {:.3f} s",
                              *left, run));
    }
    if (request_.timed_steps > 0) {
      seen_.failure = worker::CheckThreads(*seen_.run, request_.arm->threads);
    }
    return !seen_.failure;
  }

  /// The same steps in one run and in `verify`, where each step is asked for.
  bool RunState() {
    const std::int64_t steps = request_.state_steps;
    if (steps == 0) return true;
    StateObservation state;
    state.steps = steps;
    std::optional<worker::Ran> ran;
    if (!Take(session_->Run({steps, request_.block_steps, 0, true}), ran)) return false;
    std::optional<worker::Exported> exported;
    if (!Take(session_->Export("state-run"), exported)) return false;
    state.after_run = *exported;
    std::optional<worker::Verified> verified;
    if (!StepByStep(steps, {steps}, verified)) return false;
    state.after_verify = verified->weights.at(steps);
    seen_.state = std::move(state);
    return true;
  }

  /// The steps of a run from a reset, each asked for by itself.
  bool StepByStep(std::int64_t steps, std::set<std::int64_t> weights_after,
                  std::optional<worker::Verified>& into) {
    worker::VerifyRequest verify;
    verify.folder = "state-verify";
    for (std::int64_t i = 0; i < steps; ++i) verify.batches.push_back(i % request_.pool);
    verify.learning_rates.assign(static_cast<std::size_t>(steps),
                                 request_.network->optimizer.learning_rate);
    verify.weights_after.assign(weights_after.begin(), weights_after.end());
    verify.logits = false;
    verify.gradients = false;
    return Take(session_->Verify(verify), into);
  }

  /// The timed run once more, step by step: the same end, and the right steps in its middle.
  bool WholeRun() {
    const std::int64_t middle = request_.middle_step;
    if (middle == 0) return true;
    StateObservation state;
    for (const measure::StepRecord& record : seen_.run->records) state.steps += record.steps;
    const std::int64_t middle_end = middle + request_.replayed_steps;
    std::optional<worker::Verified> verified;
    if (!StepByStep(state.steps, {middle - 1, middle, middle_end, state.steps}, verified)) {
      return false;
    }
    state.after_run = seen_.step->before;
    state.after_verify = verified->weights.at(state.steps);
    const auto same = SameBytes(state.after_run.weights, state.after_verify);
    if (!same.ok()) return Fail(worker::FailureKind::kWrongResult, same.error().message());
    if (!*same && !RunAgain(state)) return false;
    seen_.state = std::move(state);
    if (!verify::VelocityFollows(request_.network->optimizer)) return true;
    verify::StepFiles files;
    files.weights_earlier = verified->weights.at(middle - 1);
    files.weights_before = verified->weights.at(middle);
    files.weights_after = verified->weights.at(middle_end);
    files.first_batch = middle % request_.pool;
    files.steps = request_.replayed_steps;
    for (std::int64_t i = 0; i < files.steps; ++i) {
      files.losses.emplace_back(i + 1, verified->losses.at(static_cast<std::size_t>(middle + i)));
    }
    seen_.middle = std::move(files);
    return true;
  }

  bool RunAgain(StateObservation& state) {
    std::optional<worker::Ran> ran;
    if (!Take(session_->Run({state.steps, request_.block_steps, 0, true}), ran)) return false;
    std::optional<worker::Exported> exported;
    if (!Take(session_->Export("state-again"), exported)) return false;
    state.after_second_run = exported->weights;
    return true;
  }

  bool StepsAfterRun() {
    StepObservation step;
    std::optional<worker::Exported> exported;
    if (!Take(session_->Export("state-before"), exported)) return false;
    step.before = *exported;
    std::int64_t taken = 0;
    for (const measure::StepRecord& record : seen_.run->records) taken += record.steps;
    step.first_batch = taken % request_.pool;
    step.steps = request_.replayed_steps;
    const std::int64_t block = std::min(request_.block_steps, step.steps);
    std::optional<worker::Ran> ran;
    if (!Take(session_->Run({step.steps, block, step.first_batch, false}), ran)) return false;
    step.run = std::move(*ran);
    if (!Take(session_->Export("state-after"), exported)) return false;
    step.after = *exported;
    seen_.step = std::move(step);
    return true;
  }

  /// The answers stand, but a framework that ends badly or leaves processes behind has disturbed
  /// or cut short something, and may disturb the launches after it.
  bool Finish() {
    if (!Take(session_->Finish(), seen_.finished)) return false;
    if (!seen_.finished->exit_problem) return true;
    return Fail(worker::FailureKind::kProtocolError,
                "finish: the process must exit with 0 and leave nothing behind; " +
                    *seen_.finished->exit_problem);
  }

  const LaunchRequest& request_;
  Clock& clock_;
  std::unique_ptr<worker::Session> session_;
  LaunchObservation seen_;
};

}  // namespace

worker::LaunchSpec ProcessLauncher::SpecFor(const Arm& arm,
                                            const std::filesystem::path& folder) const {
  worker::LaunchSpec spec;
  spec.argv = arm.installation.argv;
  spec.environment =
      frameworks::LaunchEnvironment(arm.installation, arm.preset, arm.threads, cache_folder_);
  spec.folder = folder;
  spec.threads = arm.threads;
  return spec;
}

worker::Outcome<worker::Hello> ProcessLauncher::DoGreet(const Arm& arm,
                                                        const std::filesystem::path& folder) {
  auto session = worker::Session::Start(SpecFor(arm, folder), clock_, interrupted_);
  if (!session.ok()) return session.failure();
  return (*session)->SayHello();
}

LaunchObservation ProcessLauncher::DoLaunch(const LaunchRequest& request) {
  worker::LaunchSpec spec = SpecFor(*request.arm, request.folder);
  spec.limits = request.limits;
  return Conversation(request, clock_).Run(spec, interrupted_);
}

}  // namespace dlbench::experiment
