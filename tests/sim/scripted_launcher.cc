#include "scripted_launcher.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "data/dataset.h"
#include "data/safetensors.h"
#include "reference/engine.h"

namespace dlbench::experiment {
namespace {

namespace fs = std::filesystem;

/// The value, or an exception that fails the test: nothing here is expected to go wrong.
template <class T>
T Must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message());
  return std::move(result).value();
}

void Must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().message());
}

std::map<std::string, std::vector<float>> Narrowed(
    const std::map<std::string, std::vector<double>>& tensors) {
  std::map<std::string, std::vector<float>> narrow;
  for (const auto& [name, values] : tensors) {
    std::vector<float>& into = narrow[name];
    for (const double value : values) into.push_back(static_cast<float>(value));
  }
  return narrow;
}

}  // namespace

/// The true answers of one case.
class ScriptedLauncher::Answers {
 public:
  Answers(const LaunchRequest& request, fs::path folder)
      : network_(*request.network), folder_(std::move(folder)) {
    fs::create_directories(folder_);
    auto weights = Must(data::SafetensorsFile::Open(request.weights));
    std::map<std::string, std::vector<float>> initial;
    for (const auto& [name, tensor] : weights.tensors()) {
      initial[name].assign(tensor.f32().begin(), tensor.f32().end());
    }
    initial_ = reference::StateFrom(initial);
    auto pool = Must(data::SafetensorsFile::Open(request.batches));
    const auto x = pool.Find("x")->f32();
    const auto labels = pool.Find("labels")->i32();
    x_.assign(x.begin(), x.end());
    labels_.assign(labels.begin(), labels.end());
    batch_ = request.arm->batch;
    pool_ = request.pool;
    engine_ =
        Must(reference::Engine::Create(network_, batch_, {reference::Precision::kFloat32, 1}));
    Verify(*request.sequence);
  }

  const worker::Verified& verified() const { return verified_; }

  /// Losses of `steps` steps from a reset.
  const std::vector<double>& Losses(std::int64_t steps) { return RunOf(steps).losses; }

  /// The state around `replayed` more steps after that run.
  StepObservation StepsAfter(std::int64_t steps, std::int64_t replayed) {
    RunAnswer& run = RunOf(steps);
    const auto [entry, added] = run.after.try_emplace(replayed);
    StepObservation& seen = entry->second;
    if (!added) return seen;
    seen.before = run.end;
    seen.first_batch = steps % pool_;
    seen.steps = replayed;
    engine_->SetState(run.state);
    for (std::int64_t i = 0; i < replayed; ++i) {
      seen.run.losses.push_back(Step((seen.first_batch + i) % pool_, rate()).loss);
      seen.run.records.push_back({1, 1000 * i, 1000 * (i + 1)});
    }
    seen.after = Export(fmt::format("{}-{}-after", steps, replayed));
    return seen;
  }

  /// The state after `steps` steps, the same for `run` and `verify`.
  StateObservation StateAfter(std::int64_t steps) {
    const RunAnswer& run = RunOf(steps);
    return {run.end, run.end.weights, steps, std::nullopt};
  }

 private:
  struct RunAnswer {
    std::vector<double> losses;
    reference::State state;
    worker::Exported end;
    std::map<std::int64_t, StepObservation> after;  ///< By steps replayed.
  };

  RunAnswer& RunOf(std::int64_t steps) {
    const auto [entry, added] = runs_.try_emplace(steps);
    RunAnswer& run = entry->second;
    if (!added) return run;
    engine_->SetState(initial_);
    for (std::int64_t i = 0; i < steps; ++i) run.losses.push_back(Step(i % pool_, rate()).loss);
    run.state = engine_->GetState();
    run.end = Export(fmt::format("{}-end", steps));
    return run;
  }

  double rate() const { return network_.optimizer.learning_rate; }

  reference::StepResult Step(std::int64_t batch, double rate) {
    const auto inputs = x_.size() / static_cast<std::size_t>(pool_);
    const auto rows = static_cast<std::size_t>(batch_);
    const auto index = static_cast<std::size_t>(batch);
    return engine_->Step(std::span(x_).subspan(index * inputs, inputs),
                         std::span(labels_).subspan(index * rows, rows), rate);
  }

  fs::path Write(const std::string& name,
                 const std::map<std::string, std::vector<double>>& tensors) {
    const fs::path path = folder_ / (name + ".safetensors");
    Must(data::WriteWeights(network_, Narrowed(tensors), path));
    return path;
  }

  worker::Exported Export(const std::string& name) {
    const reference::State state = engine_->GetState();
    return {Write(name + "-weights", state.weights), Write(name + "-velocity", state.velocity)};
  }

  void Verify(const verify::Sequence& sequence) {
    engine_->SetState(initial_);
    for (std::size_t i = 0; i < sequence.batches.size(); ++i) {
      const auto result = Step(sequence.batches[i], sequence.learning_rates[i]);
      verified_.losses.push_back(result.loss);
      const auto taken = static_cast<std::int64_t>(i) + 1;
      if (i == 0) {
        const auto logits = Narrowed({{"logits", result.logits}});
        const auto view = data::ViewOf("logits", {batch_, network_.classes}, logits.at("logits"));
        verified_.logits = folder_ / "logits.safetensors";
        Must(data::WriteSafetensors(*verified_.logits, {&view, 1}));
        verified_.gradients = Write("gradients", result.gradients);
      }
      if (i == 0 || i + 1 == sequence.batches.size()) {
        verified_.weights[taken] = Write(fmt::format("verify-{}", taken), engine_->GetWeights());
      }
    }
  }

  const network::Network network_;  // a copy: a resumed campaign makes its cases anew
  const fs::path folder_;
  std::int64_t batch_ = 0, pool_ = 0;
  std::vector<float> x_;
  std::vector<std::int32_t> labels_;
  reference::State initial_;
  std::unique_ptr<reference::Engine> engine_;
  worker::Verified verified_;
  std::map<std::int64_t, RunAnswer> runs_;
};

ScriptedLauncher::ScriptedLauncher(fs::path folder) : folder_(std::move(folder)) {}
ScriptedLauncher::~ScriptedLauncher() = default;

std::string ShortName(const Arm& arm) {
  return fmt::format("{} {} b{} t{}", arm.installation.name, arm.preset, arm.batch, arm.threads);
}

worker::Hello ScriptedLauncher::HelloOf(const Arm& arm) const {
  worker::Hello hello;
  hello.protocol = 1;
  hello.framework = arm.installation.name;
  hello.framework_version = "1.0";
  hello.language = "c++";
  hello.mode_labels[arm.preset] = "scripted";
  hello.gradients = "step";
  hello.learning_rate = "input";
  if (edit_hello) edit_hello(arm.installation.name, hello);
  return hello;
}

worker::Outcome<worker::Hello> ScriptedLauncher::DoGreet(const Arm& arm, const fs::path&) {
  const auto silent = mute.find(arm.installation.name);
  if (silent != mute.end()) return silent->second;
  return HelloOf(arm);
}

ScriptedLauncher::Answers& ScriptedLauncher::AnswersFor(const LaunchRequest& request) {
  auto& answers = answers_[request.weights];
  if (!answers) {
    answers = std::make_unique<Answers>(request, folder_ / std::to_string(answers_.size()));
  }
  return *answers;
}

LaunchObservation ScriptedLauncher::DoLaunch(const LaunchRequest& request) {
  LaunchObservation seen;
  if (interrupts && interrupts(launched.size())) {
    seen.failure.emplace();
    seen.failure->kind = worker::FailureKind::kInterrupted;
    return seen;
  }
  const Arm& arm = *request.arm;
  launched.push_back({ShortName(arm), request.folder.filename().string(), request.warmup_steps,
                      request.timed_steps, request.full_check});
  const auto script = scripts.find(arm.installation.name);
  const int number = numbers_[ShortName(arm)]++;
  const Turn turn = script == scripts.end() ? Turn{} : script->second(request, number);
  if (turn.failure) {
    seen.failure = worker::Failure{*turn.failure, "as scripted", turn.signal, std::nullopt,
                                   "last words of the framework\n"};
    return seen;
  }
  Answers& answers = AnswersFor(request);
  seen.hello = HelloOf(arm);
  seen.prepared = worker::Prepared{arm.batch, "float32", arm.threads, {{"threads", "1"}}};
  seen.before = answers.verified();
  if (turn.unequal) seen.before->losses.front() *= 1.01;
  seen.after = answers.verified();
  const std::int64_t steps =
      request.timed_steps > 0 ? request.warmup_steps + request.timed_steps : 20;
  seen.step = answers.StepsAfter(steps, request.replayed_steps);
  if (request.state_steps > 0) seen.state = answers.StateAfter(request.state_steps);
  if (request.middle_step > 0) seen.state = answers.StateAfter(steps);
  worker::Ran run;
  run.losses = answers.Losses(steps);
  const auto step_ns = std::llround(turn.step_seconds * 1e9);
  for (std::int64_t i = 0; i < steps; ++i)
    run.records.push_back({1, i * step_ns, (i + 1) * step_ns});
  run.reply_ns = steps * step_ns;
  run.cpu_seconds = static_cast<double>(run.reply_ns) * 1e-9;
  seen.run = std::move(run);
  seen.finished.emplace();
  seen.finished->peak_memory_bytes = 1 << 20;
  return seen;
}

}  // namespace dlbench::experiment
