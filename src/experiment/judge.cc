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
  return {step.before.weights, step.before.velocity, step.after.weights,
          step.first_batch,    step.steps,           NumberedLosses(step.run)};
}

Judgement WrongResult(const Error& error) {
  worker::Failure failure;
  failure.kind = worker::FailureKind::kWrongResult;
  failure.message = error.message();
  return {failure, std::nullopt};
}

}  // namespace

Judgement JudgeLaunch(const verify::Gate& gate, const LaunchObservation& seen,
                      verify::Depth depth) {
  if (seen.failure) return {seen.failure, std::nullopt};
  const verify::Answers before = AnswersFrom(*seen.before);
  const verify::Answers after = AnswersFrom(*seen.after);
  const verify::StepFiles step = FilesFrom(*seen.step);

  auto checks = gate.CheckAnswers(before, depth, "before");
  if (!checks.ok()) return WrongResult(checks.error());
  const auto add = [&](std::vector<verify::Check> more) {
    checks->insert(checks->end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
  };
  add(gate.CheckRunLosses(NumberedLosses(*seen.run)));
  if (seen.state) {
    auto state_checks = gate.CheckRunState(
        {seen.state->after_run.weights, seen.state->after_verify, seen.state->steps});
    if (!state_checks.ok()) return WrongResult(state_checks.error());
    add(*std::move(state_checks));
  }
  auto step_checks = gate.CheckStep(step);
  if (!step_checks.ok()) return WrongResult(step_checks.error());
  add(*std::move(step_checks));
  auto after_checks = gate.CheckAnswers(after, depth, "after");
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
