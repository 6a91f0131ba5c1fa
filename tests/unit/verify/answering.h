#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "network/network.h"
#include "reference/engine.h"
#include "verify/gate.h"
#include "verify/update_rules.h"

namespace dlbench::verify {

/// Something to be proved the same.
struct Problem {
  network::Network network;
  std::map<std::string, std::vector<float>> weights;
  data::BatchPool pool;

  GateCase Case() const { return {&network, &weights, &pool, true}; }
};

/// 12 inputs, tanh(16), sigmoid(16), 10 classes; the middle weight is square. Momentum and decay
/// together, biases do not decay.
network::Network SmallNet();
/// Weights in (-bound, bound), four different batches with inputs in (-1, 1).
Problem MakeProblem(network::Network network, std::int64_t batch, double bound = 0.5);

/// What a framework does otherwise than asked; nothing by default.
struct Wrong {
  std::optional<network::Network> network;  ///< Trains this one.
  UpdateRule rule;
  std::function<void(Tensors&)> used_weights;  ///< Changes what the pass uses, not what is stored.
  std::function<void(std::vector<float>&)> inputs;
  std::function<void(Tensors&)> gradients;                   ///< As used and as handed out.
  std::function<void(std::vector<double>&)> logits, losses;  ///< As handed out.
  reference::Arithmetic arithmetic{reference::Precision::kFloat32, 1};
};

/// A test whose answers to the gate are computed by the reference's engine in float32.
class AnsweringTest : public testing::Test {
 protected:
  AnsweringTest();
  ~AnsweringTest() override;

  /// The gate of `problem`, which must outlive it; fails the test where there is none.
  std::unique_ptr<Gate> GateOf(const Problem& problem);
  /// Trains along the gate's sequence and writes the answer.
  Answers Answer(const Problem& problem, const Gate& gate, const Wrong& wrong);
  /// The gate's judgement of that answer.
  GateResult JudgementOf(const Problem& problem, const Gate& gate, const Wrong& wrong);

 private:
  std::filesystem::path Write(const network::Network& network, const Tensors& tensors);

  const std::filesystem::path folder_;
  int files_ = 0;
};

}  // namespace dlbench::verify
