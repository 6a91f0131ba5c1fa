#include "adapter.h"

#include <gtest/gtest.h>

#include "graph.h"
#include "naive_network.h"

namespace dlbench::onednn {
namespace {

/// The network 3 -> dense 4 -> tanh -> dense 2, as `prepare` would bring it.
struct Request {
  static constexpr std::int64_t kBatch = 5;
  static constexpr std::int64_t kPool = 2;

  adapter::Spec spec;
  std::vector<std::vector<float>> start;
  std::vector<float> x = RandomNumbers(kPool * kBatch * 3, 1);
  std::vector<std::int32_t> labels = RandomLabels(kPool * kBatch, 2, 2);

  Request() {
    adapter::Network& network = spec.network;
    network.input_shape = {3};
    network.classes = 2;
    network.nodes = {Dense("fc1", "input", 3, 4), {}, Dense("fc2", "act1", 4, 2)};
    network.nodes[1].name = "act1";
    network.nodes[1].op = "tanh";
    network.nodes[1].inputs = {"fc1"};
    network.nodes[1].output_shape = {4};
    network.loss = {"softmax_cross_entropy", "mean", "fc2"};
    network.optimizer = {"sgd", 0.1, 0.9, 0.01, false};
    unsigned seed = 10;
    for (adapter::Node& node : network.nodes) {
      for (adapter::Parameter& parameter : node.parameters) {
        start.push_back(RandomNumbers(parameter.count, seed++));
        parameter.initial = start.back().data();
      }
    }
    spec.batch = kBatch;
    spec.pool = kPool;
    spec.preset = "recommended";
    spec.sample_size = 3;
    spec.x = x.data();
    spec.labels = labels.data();
  }

  static adapter::Node Dense(const std::string& name, const std::string& input, std::int64_t ins,
                             std::int64_t outs) {
    adapter::Node node;
    node.name = name;
    node.op = "dense";
    node.inputs = {input};
    node.attributes.Set("units", outs).Set("bias", true);
    node.output_shape = {outs};
    node.parameters.resize(2);
    node.parameters[0].name = name + ".weight";
    node.parameters[0].shape = {outs, ins};
    node.parameters[0].count = static_cast<std::size_t>(outs * ins);
    node.parameters[1].name = name + ".bias";
    node.parameters[1].shape = {outs};
    node.parameters[1].count = static_cast<std::size_t>(outs);
    node.parameters[1].decays = false;
    return node;
  }
};

std::string RefusalOf(const adapter::Network& network) {
  try {
    const Graph graph(network);
    for (int i = 0; i < graph.size(); ++i) MakeLayer(graph.node(i));
  } catch (const adapter::Unsupported& error) {
    return error.what();
  }
  return "";
}

TEST(OnednnAdapter, StepsOnTheBatchesOfThePool) {
  Request request;
  OnednnAdapter adapter;
  const adapter::Prepared prepared = adapter.Prepare(request.spec);
  EXPECT_EQ(prepared.batch, 5);
  EXPECT_EQ(prepared.threads, 1);
  EXPECT_EQ(prepared.effective_settings.count("onednn.cpu_isa"), 1U);
  adapter.Step(0, 0.1);
  const double first = adapter.Loss();
  adapter.Step(1, 0.1);
  EXPECT_NE(adapter.Loss(), first);
  adapter.Reset();
  adapter.Step(0, 0.1);
  EXPECT_EQ(adapter.Loss(), first);
}

TEST(OnednnAdapter, UpdateIsTheGradientAndDecayInCanonicalLayout) {
  Request request;
  OnednnAdapter adapter;
  adapter.Prepare(request.spec);
  adapter.Step(0, 0.1);
  std::size_t index = 0;
  for (const adapter::Parameter* parameter : request.spec.network.Parameters()) {
    std::vector<float> gradient(parameter->count), weight(parameter->count), v(parameter->count);
    adapter.ReadGradient(*parameter, gradient.data());
    adapter.ReadWeight(*parameter, weight.data());
    adapter.ReadVelocity(*parameter, v.data());
    const float decay = parameter->decays ? 0.01F : 0.0F;
    for (std::size_t i = 0; i < parameter->count; ++i) {
      const float start = request.start[index][i];
      EXPECT_NEAR(v[i], gradient[i] + decay * start, 1e-6F) << parameter->name;
      EXPECT_NEAR(weight[i], start - 0.1F * v[i], 1e-6F) << parameter->name;
    }
    ++index;
  }
}

TEST(OnednnAdapter, SaysWhatItCanDo) {
  OnednnAdapter adapter;
  const adapter::Description description = adapter.Describe();
  EXPECT_EQ(description.framework, "onednn");
  EXPECT_EQ(description.gradients, "step");
  EXPECT_EQ(description.learning_rate, "input");
  EXPECT_FALSE(description.asynchronous);
  for (const std::string& preset : description.presets) {
    EXPECT_EQ(description.mode_label.count(preset), 1U) << preset;
  }
}

TEST(OnednnAdapter, RefusesNarrowerArithmetic) {
  Request request;
  request.spec.settings["fpmath"] = "bf16";
  OnednnAdapter adapter;
  EXPECT_THROW(adapter.Prepare(request.spec), adapter::Unsupported);
  request.spec.settings["fpmath"] = "strict";
  EXPECT_NO_THROW(adapter.Prepare(request.spec));
}

TEST(OnednnAdapter, TakesTheLayoutOfTheWeightsFromTheSettings) {
  for (const auto& [name, layout] : std::map<std::string, std::string>{
           {"rows", "plain, strides 3,1"}, {"columns", "plain, strides 1,4"}}) {
    Request request;
    request.spec.settings["weights_layout"] = name;
    OnednnAdapter adapter;
    EXPECT_EQ(adapter.Prepare(request.spec).effective_settings.at("fc1.weights"), layout);
  }
  Request request;
  request.spec.settings["weights_layout"] = "diagonal";
  OnednnAdapter adapter;
  EXPECT_THROW(adapter.Prepare(request.spec), adapter::Unsupported);
}

TEST(OnednnAdapter, RefusesWhatIsMissingWithNodeAndReason) {
  Request request;
  request.spec.network.nodes[0].parameters.pop_back();
  OnednnAdapter adapter;
  try {
    adapter.Prepare(request.spec);
    FAIL();
  } catch (const adapter::Unsupported& error) {
    EXPECT_STREQ(error.what(), "node 'fc1' (dense): it has no parameter 'bias'");
  }
}

TEST(Graph, RefusesWithNodeAndReason) {
  Request request;
  const adapter::Network good = request.spec.network;
  EXPECT_EQ(RefusalOf(good), "");

  adapter::Network network = good;
  network.nodes[2].inputs = {"fc1"};
  EXPECT_EQ(RefusalOf(network), "node 'act1' (tanh): nothing uses it");
  network = good;
  network.nodes[2].inputs = {"act2"};
  EXPECT_EQ(RefusalOf(network), "node 'fc2' (dense): its input 'act2' is no node before it");
  network = good;
  network.nodes[1].op = "gru";
  EXPECT_EQ(RefusalOf(network), "node 'act1' (gru): this operation is not built");
  network = good;
  network.nodes[1].op = "add";
  EXPECT_EQ(RefusalOf(network), "node 'act1' (add): it has 1 inputs instead of 2");
  network = good;
  network.loss.input = "fc3";
  EXPECT_NE(RefusalOf(network).find("'fc3'"), std::string::npos);
  network = good;
  network.loss.kind = "mse";
  EXPECT_NE(RefusalOf(network).find("loss mse"), std::string::npos);
  network = good;
  network.loss.reduction = "none";
  EXPECT_NE(RefusalOf(network).find("reduction none"), std::string::npos);
  network = good;
  network.optimizer.kind = "adam";
  EXPECT_NE(RefusalOf(network).find("optimizer adam"), std::string::npos);
}

}  // namespace
}  // namespace dlbench::onednn
