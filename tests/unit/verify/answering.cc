#include "answering.h"

#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "../reference/small_network.h"
#include "data/safetensors.h"

namespace dlbench::verify {
namespace {

/// The value, or an exception that fails the test.
template <class T>
T Must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message());
  return std::move(result).value();
}

void Must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().message());
}

std::vector<float> Narrow(const std::vector<double>& values) {
  std::vector<float> narrow;
  for (const double value : values) narrow.push_back(static_cast<float>(value));
  return narrow;
}

/// What is stored is float32.
void Round(std::vector<double>& values) {
  for (double& value : values) value = static_cast<double>(static_cast<float>(value));
}

void Update(const network::Network& network, const UpdateRule& rule, std::size_t step, double rate,
            double first_rate, const Tensors& gradients, reference::State& state) {
  for (const network::Parameter* parameter : network.Parameters()) {
    std::vector<double>& weights = state.weights.at(parameter->name);
    std::vector<double>& velocity = state.velocity[parameter->name];
    velocity.resize(weights.size(), 0.0);
    Advance(rule, network.optimizer, parameter->decays, step, rate, first_rate, 1.0,
            gradients.at(parameter->name), weights, velocity);
    Round(weights);
    Round(velocity);
  }
}

}  // namespace

network::Network SmallNet() {
  network::Network network;
  network.name = "small";
  network.input.shape = {12};
  network.input.scale = 0.5;
  network.classes = 10;
  reference::AddDense(network, "fc1", "input", 12, 16);
  reference::AddActivation(network, "act1", "tanh", "fc1", 16);
  reference::AddDense(network, "fc2", "act1", 16, 16);
  reference::AddActivation(network, "act2", "sigmoid", "fc2", 16);
  reference::AddDense(network, "fc3", "act2", 16, 10);
  network.loss.input = "fc3";
  network.optimizer.learning_rate = 0.05;
  network.optimizer.momentum = 0.9;
  network.optimizer.weight_decay = 0.01;
  return network;
}

Problem MakeProblem(network::Network network, std::int64_t batch, double bound) {
  Problem problem;
  problem.network = std::move(network);
  for (const network::Parameter* parameter : problem.network.Parameters()) {
    const auto count = static_cast<std::size_t>(network::ElementCount(parameter->shape));
    problem.weights[parameter->name] = reference::Uniform(parameter->name, count, bound);
  }
  problem.pool.batch = batch;
  problem.pool.count = 4;
  const std::int64_t width = network::ElementCount(problem.network.input.shape);
  const std::int64_t samples = batch * problem.pool.count;
  problem.pool.x = reference::Uniform("x", static_cast<std::size_t>(samples * width), 1.0);
  const data::NamedStream stream(11, "labels");
  for (std::int64_t i = 0; i < samples; ++i) {
    problem.pool.labels.push_back(static_cast<std::int32_t>(stream.Below(
        static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(problem.network.classes))));
  }
  return problem;
}

AnsweringTest::AnsweringTest()
    : folder_(std::filesystem::path(testing::TempDir()) /
              ("dlbench_verify_test_" + std::to_string(::getpid()))) {
  std::filesystem::create_directories(folder_);
}

AnsweringTest::~AnsweringTest() { std::filesystem::remove_all(folder_); }

std::unique_ptr<Gate> AnsweringTest::GateOf(const Problem& problem) {
  return Must(Gate::Create(problem.Case()));
}

std::filesystem::path AnsweringTest::Write(const network::Network& network,
                                           const Tensors& tensors) {
  std::map<std::string, std::vector<float>> narrow;
  for (const auto& [name, values] : tensors) narrow[name] = Narrow(values);
  const auto path = folder_ / (std::to_string(files_++) + ".safetensors");
  Must(data::WriteWeights(network, narrow, path));
  return path;
}

Answers AnsweringTest::Answer(const Problem& problem, const Gate& gate, const Wrong& wrong) {
  const data::BatchPool& pool = problem.pool;
  const network::Network& trained = wrong.network ? *wrong.network : problem.network;
  auto engine = Must(reference::Engine::Create(trained, pool.batch, wrong.arithmetic));
  const Sequence& sequence = gate.sequence();
  reference::State state = reference::StateFrom(problem.weights);
  Answers answers;
  for (std::size_t i = 0; i < sequence.batches.size(); ++i) {
    const auto used = wrong.rule.stale_batch && i > 0 ? i - 1 : i;
    const auto inputs = BatchInputs(pool, sequence.batches[used]);
    std::vector<float> x(inputs.begin(), inputs.end());
    if (wrong.inputs) wrong.inputs(x);
    Tensors weights = state.weights;
    if (wrong.used_weights) wrong.used_weights(weights);
    engine->SetWeights(weights);
    auto step = engine->Differentiate(x, BatchLabels(pool, sequence.batches[used]));
    if (wrong.gradients) wrong.gradients(step.gradients);
    answers.losses.push_back(step.loss);
    if (i == 0) {
      if (wrong.logits) wrong.logits(step.logits);
      const std::vector<float> logits = Narrow(step.logits);
      answers.logits = folder_ / (std::to_string(files_++) + ".safetensors");
      Must(data::WriteSafetensors(
          *answers.logits,
          std::vector{data::ViewOf("logits", {pool.batch, trained.classes}, logits)}));
      answers.gradients = Write(trained, step.gradients);
    }
    Update(trained, wrong.rule, i, sequence.learning_rates[i], sequence.learning_rates[0],
           step.gradients, state);
    const auto taken = static_cast<std::int64_t>(i) + 1;
    if (taken == 1 || taken == Gate::kSteps) answers.weights[taken] = Write(trained, state.weights);
  }
  if (wrong.losses) wrong.losses(answers.losses);
  return answers;
}

GateResult AnsweringTest::JudgementOf(const Problem& problem, const Gate& gate,
                                      const Wrong& wrong) {
  const Answers answers = Answer(problem, gate, wrong);
  return gate.Judge(Must(gate.CheckAnswers(answers, Depth::kFull, "before")), &answers, nullptr);
}

}  // namespace dlbench::verify
