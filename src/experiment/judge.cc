#include "experiment/judge.h"

#include <iterator>
#include <utility>
#include <vector>

namespace dlbench::experiment {
namespace {

verify::Answers AnswersFrom(const worker::Verified& verified) {
  verify::Answers answers;
  answers.losses = verified.losses;
  answers.logits = verified.logits;
  answers.gradients = verified.gradients;
  answers.weights = verified.weights;
  return answers;
}

/// Losses of a run with their step numbers: every step's, or the last of each block.
std::vector<std::pair<std::int64_t, double>> NumberedLosses(const worker::Ran& run) {
  std::vector<std::pair<std::int64_t, double>> losses;
  std::int64_t step = 0;
  for (std::size_t i = 0; i < run.losses.size() && i < run.records.size(); ++i) {
    step += run.records[i].steps;
    losses.emplace_back(step, run.losses[i]);
  }
  return losses;
}

verify::StepFiles FilesFrom(const StepObservation& step) {
  verify::StepFiles files;
  files.weights_before = step.before.weights;
  files.velocity_before = step.before.velocity;
  files.weights_after = step.after.weights;
  files.first_batch = step.first_batch;
  files.steps = step.steps;
  files.losses = NumberedLosses(step.run);
  return files;
}

Judgement WrongResult(const Error& error) {
  worker::Failure failure;
  failure.kind = worker::FailureKind::kWrongResult;
  failure.message = error.message();
  return {failure, std::nullopt};
}

}  // namespace

Depths DepthsOf(const LaunchRequest& request) {
  using verify::Depth;
  if (!request.full_check) return {Depth::kLight, Depth::kLight};
  return {request.timed_steps == 0 ? Depth::kFull : Depth::kLight, Depth::kFull};
}

Judgement JudgeLaunch(const verify::Gate& gate, const LaunchObservation& seen, Depths depths) {
  if (seen.failure) return {seen.failure, std::nullopt};
  const verify::Answers before = AnswersFrom(*seen.before);
  const verify::Answers after = AnswersFrom(*seen.after);
  const verify::StepFiles step = FilesFrom(*seen.step);

  auto checks = gate.CheckAnswers(before, depths.before, "before");
  if (!checks.ok()) return WrongResult(checks.error());
  const auto add = [&](std::vector<verify::Check> more) {
    checks->insert(checks->end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
  };
  add(gate.CheckRunLosses(NumberedLosses(*seen.run)));
  if (seen.state) {
    auto state_checks = gate.CheckRunState({seen.state->after_run.weights, seen.state->after_verify,
                                            seen.state->after_second_run, seen.state->steps});
    if (!state_checks.ok()) return WrongResult(state_checks.error());
    add(*std::move(state_checks));
  }
  auto step_checks = gate.CheckStep(step, "run");
  if (!step_checks.ok()) return WrongResult(step_checks.error());
  add(*std::move(step_checks));
  if (seen.middle) {
    auto middle_checks = gate.CheckStep(*seen.middle, "middle");
    if (!middle_checks.ok()) return WrongResult(middle_checks.error());
    add(*std::move(middle_checks));
  }
  auto after_checks = gate.CheckAnswers(after, depths.after, "after");
  if (!after_checks.ok()) return WrongResult(after_checks.error());
  add(*std::move(after_checks));

  // The diagnosis looks at the answers in which the first fault showed.
  bool before_failed = false;
  for (const verify::Check& check : *checks) {
    before_failed = before_failed || (!check.passed && check.moment == "before");
  }
  return {std::nullopt, gate.Judge(*std::move(checks), before_failed ? &before : &after, &step)};
}

}  // namespace dlbench::experiment
