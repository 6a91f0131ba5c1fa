#include "network/parse.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "network/cost.h"
#include "network_text.h"

namespace dlbench::network {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOf(const std::string& text) {
  const auto network = ParseNetwork(text, "my.toml");
  return network ? "no error" : network.error().message();
}

TEST(Parse, ResolvesShapesParametersAndInitialisation) {
  const auto network = ParseNetwork(ValidText(), "my.toml");
  ASSERT_TRUE(network) << network.error().message();
  ASSERT_EQ(network->nodes.size(), 3U);
  const Node& first = network->nodes[0];
  EXPECT_EQ(first.inputs, std::vector<std::string>{"input"});
  EXPECT_EQ(first.output_shape, Shape{5});
  EXPECT_EQ(first.Int("units"), 5);
  EXPECT_TRUE(first.Bool("bias"));
  EXPECT_EQ(first.line, 17);
  ASSERT_EQ(first.parameters.size(), 2U);
  EXPECT_EQ(first.parameters[0].name, "fc1.weight");
  EXPECT_EQ(first.parameters[0].shape, (Shape{5, 4}));
  EXPECT_EQ(first.parameters[0].initializer.kind, Initializer::Kind::kUniform);
  EXPECT_EQ(first.parameters[0].initializer.value, 1.0);  // 2 / sqrt(4)
  EXPECT_EQ(first.parameters[1].initializer.kind, Initializer::Kind::kConstant);
  EXPECT_EQ(first.parameters[1].initializer.value, 0.25);
  EXPECT_EQ(network->nodes[1].inputs, std::vector<std::string>{"fc1"});
  EXPECT_EQ(network->nodes[2].parameters.size(), 1U);
  EXPECT_EQ(network->nodes[2].parameters[0].initializer.value, 0.125);
  EXPECT_EQ(network->input.offset, 1.0);
  EXPECT_EQ(network->loss.input, "fc2");
  EXPECT_EQ(network->ParameterCount(), 4 * 5 + 5 + 5 * 3);
}

TEST(Parse, FanAverageFollowsGlorot) {
  const auto network = ParseNetwork(
      With("uniform_fan_in\", gain = 2.0", "uniform_fan_average\", gain = 1.5"), "my.toml");
  ASSERT_TRUE(network);
  EXPECT_DOUBLE_EQ(network->nodes[0].parameters[0].initializer.value, 1.5 * std::sqrt(6.0 / 9.0));
}

TEST(C32, TheFileSaysWhichParametersDecay) {
  const auto weights = ParseNetwork(ValidText(), "my.toml");
  ASSERT_TRUE(weights);
  EXPECT_TRUE(weights->nodes[0].parameters[0].decays);
  EXPECT_FALSE(weights->nodes[0].parameters[1].decays);
  const auto all = ParseNetwork(With("decays = \"weights\"", "decays = \"all\""), "my.toml");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->nodes[0].parameters[1].decays);
  EXPECT_THAT(ErrorOf(With("decays = \"weights\"\n", "")), HasSubstr("has no 'decays'"));
}

TEST(C30, SoftmaxBelongsToTheLossAndIsNoLayer) {
  EXPECT_THAT(ErrorOf(With("\"tanh\"", "\"softmax\"")), HasSubstr("'op' of layer 'act1'"));
}

TEST(C31, TheMomentumRuleIsNamedAndNothingOfItHasADefault) {
  for (const char* key : {"learning_rate = 0.1\n", "momentum = 0.9\n", "nesterov = false\n"}) {
    const std::string name = std::string(key).substr(0, std::string(key).find(' '));
    EXPECT_THAT(ErrorOf(With(key, "")),
                AllOf(StartsWith("my.toml:39:1:"), HasSubstr("[optimizer] has no '" + name + "'")));
  }
}

TEST(Parse, EveryKeyIsRequiredAndItsAbsenceNamed) {
  for (const char* line :
       {"format = 1\n", "title = \"Small\"\n", "classes = 3\n", "shape = [4]\n",
        "dataset = \"synthetic\"\n", "scale = 0.5\n", "offset = 1\n", "op = \"dense\"\n",
        "units = 5\n", "bias = true\n", "reduction = \"mean\"\n", "weight_decay = 0.01\n",
        "biases = { distribution = \"constant\", value = 0.25 }\n", ", value = 0.25"}) {
    std::string key(line);
    key = key.substr(key.find_first_not_of(", "));
    key = key.substr(0, key.find(' '));
    EXPECT_THAT(ErrorOf(With(line, "")), HasSubstr("has no '" + key + "'")) << line;
  }
}

TEST(Parse, UnknownKeysAreRefusedWithTheNearestKnownOne) {
  EXPECT_EQ(ErrorOf(With("units = 5", "units = 5\nunit = 4")),
            "my.toml:21:1: layer 'fc1' has an unknown key 'unit'; did you mean 'units'?");
  EXPECT_THAT(ErrorOf(With("momentum = 0.9", "momentum = 0.9\nlr = 1")),
              AllOf(StartsWith("my.toml:43:1: [optimizer] has an unknown key 'lr'")));
  EXPECT_THAT(ErrorOf(With("op = \"tanh\"", "op = \"tanh\"\nslope = 1")),
              HasSubstr("layer 'act1' has an unknown key 'slope'"));
}

TEST(Parse, UnknownWordsAreRefusedWithTheNearestKnownOne) {
  EXPECT_THAT(ErrorOf(With("\"dense\"", "\"dens\"")),
              AllOf(StartsWith("my.toml:19:6:"), HasSubstr("did you mean 'dense'?")));
  EXPECT_THAT(ErrorOf(With("\"tanh\"", "\"tanhh\"")), HasSubstr("did you mean 'tanh'?"));
  EXPECT_THAT(ErrorOf(With("\"sgd\"", "\"adam\"")), HasSubstr("known: sgd"));
  EXPECT_THAT(ErrorOf(With("\"mean\"", "\"average\"")), HasSubstr("known: mean, sum"));
  EXPECT_THAT(ErrorOf(With("\"synthetic\"", "\"synthetik\"")), HasSubstr("'synthetic'?"));
  EXPECT_THAT(ErrorOf(With("\"uniform\"", "\"unifrom\"")), HasSubstr("did you mean 'uniform'?"));
}

TEST(Parse, WrongTypesSayWhatIsThereAndWhatIsWanted) {
  EXPECT_THAT(ErrorOf(With("units = 5", "units = \"5\"")),
              HasSubstr("my.toml:20:9: 'units' of layer 'fc1' is a string; it must be an integer"));
  EXPECT_THAT(ErrorOf(With("units = 5", "units = 5.0")), HasSubstr("is a number"));
  EXPECT_THAT(ErrorOf(With("bias = true", "bias = 1")), HasSubstr("must be true or false"));
  EXPECT_THAT(ErrorOf(With("shape = [4]", "shape = 4")), HasSubstr("like [784]"));
  EXPECT_THAT(ErrorOf(With("shape = [4]", "shape = []")), HasSubstr("like [784]"));
  EXPECT_THAT(ErrorOf(With("shape = [4]", "shape = [\"4\"]")), HasSubstr("holds a string"));
  EXPECT_THAT(ErrorOf(With("title = \"Small\"", "title = 1979-05-27")), HasSubstr("is a date"));
  EXPECT_THAT(ErrorOf(With("[loss]", "[[loss]]")), HasSubstr("it must be a table"));
}

TEST(Parse, SizesThatAreNotPositiveOrDoNotFitAreRefused) {
  for (const char* size : {"0", "-5", "2147483648", "9223372036854775807"}) {
    EXPECT_THAT(ErrorOf(With("units = 5", std::string("units = ") + size)),
                HasSubstr(std::string("is ") + size))
        << size;
  }
  EXPECT_THAT(ErrorOf(With("units = 5", "units = 9223372036854775808")),
              AllOf(StartsWith("my.toml:20:"), HasSubstr("not valid TOML")));
  EXPECT_THAT(ErrorOf(With("shape = [4]", "shape = [-4]")), HasSubstr("holds -4"));
  EXPECT_THAT(ErrorOf(With("shape = [4]", "shape = [65536, 65536]")), HasSubstr("elements"));
  EXPECT_THAT(ErrorOf(With("shape = [4]", "shape = [4611686018427387904, 4]")),
              HasSubstr("elements"));
  EXPECT_THAT(ErrorOf(With("units = 5", "units = 2147483647")), HasSubstr("use fewer units"));
}

TEST(Parse, NumbersThatAreNotFiniteOrAbsurdAreRefused) {
  for (const char* rate : {"nan", "inf", "-0.1", "0.0", "1e300", "1e-300"}) {
    EXPECT_THAT(ErrorOf(With("learning_rate = 0.1", std::string("learning_rate = ") + rate)),
                AllOf(HasSubstr("'learning_rate' of [optimizer] is"), HasSubstr("a number from")));
  }
  EXPECT_THAT(ErrorOf(With("momentum = 0.9", "momentum = 1.0")), HasSubstr("'momentum'"));
  EXPECT_THAT(ErrorOf(With("weight_decay = 0.01", "weight_decay = -1")), HasSubstr("decay"));
}

TEST(Parse, ShapesThatDoNotFitAreRefused) {
  EXPECT_THAT(ErrorOf(With("shape = [4]", "shape = [2, 1, 2]")),
              AllOf(StartsWith("my.toml:17:1: layer 'fc1'"), HasSubstr("shape [2, 1, 2]")));
  EXPECT_THAT(ErrorOf(With("units = 3", "units = 4")),
              HasSubstr("the logits of 'fc2' have shape [4], but there are 3 classes"));
  EXPECT_THAT(ErrorOf(With("\"synthetic\"", "\"mnist\"")),
              AllOf(HasSubstr("has 4 elements, but 'mnist' has 784"),
                    HasSubstr("'classes' is 3, but 'mnist' has 10")));
}

TEST(Parse, NamesMustBeUniqueAndHarmless) {
  EXPECT_THAT(ErrorOf(With("\"act1\"", "\"fc1\"")),
              AllOf(StartsWith("my.toml:24:8:"), HasSubstr("'fc1' is used twice")));
  EXPECT_THAT(ErrorOf(With("\"act1\"", "\"input\"")), HasSubstr("is reserved"));
  for (const char* name : {"\"\"", "\"../x\"", "\"a b\"", "\"1a\"", "\"a.b\"", "\"\\u0000\""}) {
    EXPECT_THAT(ErrorOf(With("\"act1\"", name)), HasSubstr("must be a letter")) << name;
  }
  EXPECT_THAT(ErrorOf(With("\"act1\"", "\"a\\u001b[31m\"")), HasSubstr("\\x1b"));
}

TEST(Parse, InputsNameEarlierLayers) {
  EXPECT_THAT(ErrorOf(With("op = \"tanh\"", "op = \"tanh\"\ninputs = [\"fc9\"]")),
              AllOf(StartsWith("my.toml:26:10: layer 'act1' takes its input from 'fc9'"),
                    HasSubstr("did you mean 'fc1'?")));
  EXPECT_THAT(ErrorOf(With("op = \"tanh\"", "op = \"tanh\"\ninputs = [\"fc2\"]")),
              HasSubstr("which no layer before it is called"));
  EXPECT_THAT(ErrorOf(With("op = \"tanh\"", "op = \"tanh\"\ninputs = [\"fc1\", \"input\"]")),
              HasSubstr("has 2 inputs; tanh takes 1"));
  EXPECT_THAT(ErrorOf(With("input = \"fc2\"", "input = \"fc7\"")), HasSubstr("which is no layer"));
  EXPECT_THAT(ErrorOf(With("bias = false", "bias = false\ninputs = [\"fc1\"]")),
              HasSubstr("the output of layer 'act1' is not used"));
}

TEST(Parse, InitialisationOfWhatIsNotThereIsRefused) {
  EXPECT_THAT(ErrorOf(With("bias = false",
                           "bias = false\ninitial_biases = { distribution = \"uniform\", bound = "
                           "1.0 }")),
              HasSubstr("unknown key 'initial_biases'"));
}

TEST(Parse, NesterovNeedsMomentum) {
  std::string text = With("nesterov = false", "nesterov = true");
  EXPECT_TRUE(ParseNetwork(text, "my.toml"));
  text.replace(text.find("momentum = 0.9"), 14, "momentum = 0.0");
  EXPECT_THAT(ErrorOf(text), HasSubstr("set a momentum"));
}

TEST(Parse, AllErrorsAreToldInFileOrder) {
  std::string text = With("units = 5", "units = -5");
  text.replace(text.find("\"sgd\""), 5, "\"adam\"");
  text.replace(text.find("scale = 0.5"), 11, "scale = \"x\"");
  const std::string error = ErrorOf(text);
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 2) << error;
  EXPECT_LT(error.find("my.toml:10:"), error.find("my.toml:20:"));
  EXPECT_LT(error.find("my.toml:20:"), error.find("my.toml:42:"));
}

TEST(Parse, BrokenTomlHasItsPlace) {
  EXPECT_THAT(ErrorOf("format = \n"), AllOf(StartsWith("my.toml:1:"), HasSubstr("not valid TOML")));
  EXPECT_THAT(ErrorOf("a = 1\na = 2\n"), StartsWith("my.toml:2:"));
  EXPECT_THAT(ErrorOf("a = \"\xff\"\n"), HasSubstr("not valid TOML"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("has no 'format'"));
}

TEST(Parse, HugeAndDeepFilesAreRefusedBeforeTheyCost) {
  EXPECT_THAT(ErrorOf(std::string(300'000, '#')), HasSubstr("larger than 256 KiB"));
  std::string dots = "a";
  for (int i = 0; i < 100'000; ++i) dots += ".a";
  EXPECT_THAT(ErrorOf(dots + " = 1"), HasSubstr("more than 200 points"));
  EXPECT_THAT(ErrorOf("a = " + std::string(100'000, '[')), HasSubstr("not valid TOML"));
}

TEST(ToProtocolJson, HasTheFieldsOfTheProtocol) {
  const auto network = ParseNetwork(ValidText(), "my.toml");
  ASSERT_TRUE(network);
  EXPECT_EQ(nlohmann::json::parse(ToProtocolJson(*network)), nlohmann::json::parse(R"({
    "name": "small", "variant": "", "classes": 3, "input": {"kind": "values", "shape": [4]},
    "nodes": [
      {"name": "fc1", "op": "dense", "inputs": ["input"], "attributes": {"units": 5, "bias": true},
       "output_shape": [5], "parameters": [{"name": "fc1.weight", "shape": [5, 4], "decays": true},
                                           {"name": "fc1.bias", "shape": [5], "decays": false}], "buffers": []},
      {"name": "act1", "op": "tanh", "inputs": ["fc1"], "attributes": {}, "output_shape": [5],
       "parameters": [], "buffers": []},
      {"name": "fc2", "op": "dense", "inputs": ["act1"], "attributes": {"units": 3, "bias": false},
       "output_shape": [3],
       "parameters": [{"name": "fc2.weight", "shape": [3, 5], "decays": true}], "buffers": []}],
    "loss": {"kind": "softmax_cross_entropy", "reduction": "mean", "input": "fc2"},
    "optimizer": {"kind": "sgd", "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.01,
                  "nesterov": false}})"));
  EXPECT_EQ(ToProtocolJson(*network).find('\n'), std::string::npos);
}

TEST(ToProtocolJson, TellsListsWordsBuffersAndTokens) {
  Network network;
  network.input.kind = Input::Kind::kTokens;
  network.input.shape = {7};
  network.input.vocabulary = 50;
  Node node;
  node.name = "n";
  node.attributes = {{"kernel", Shape{3, 5}}, {"state", std::string("carried")}};
  node.output_shape = {7, 50};
  node.buffers = {{"n.hidden", {4}, 0.0, true}, {"n.running_variance", {6}, 1.0, false}};
  network.nodes = {node};
  network.loss.input = "n";
  const auto json = nlohmann::json::parse(ToProtocolJson(network));
  EXPECT_EQ(json["input"],
            nlohmann::json::parse(R"({"kind": "tokens", "shape": [7], "vocabulary": 50})"));
  EXPECT_EQ(json["nodes"][0]["attributes"],
            nlohmann::json::parse(R"({"kernel": [3, 5], "state": "carried"})"));
  EXPECT_EQ(json["nodes"][0]["buffers"], nlohmann::json::parse(R"([
    {"name": "n.hidden", "shape": [4], "initial": 0.0, "per_sample": true},
    {"name": "n.running_variance", "shape": [6], "initial": 1.0, "per_sample": false}])"));
  EXPECT_EQ(network.nodes[0].List("kernel"), (Shape{3, 5}));
  EXPECT_EQ(network.nodes[0].Text("state"), "carried");
  EXPECT_EQ(network.Buffers().size(), 2U);
  EXPECT_EQ(network.LabelsPerSample(), 7);
  network.nodes[0].output_shape = {50};
  EXPECT_EQ(network.LabelsPerSample(), 1);
}

TEST(Costs, GradientOfTheDataIsNotCounted) {
  const auto network = ParseNetwork(With("[[layers]]\nname = \"fc1\"",
                                         "[[layers]]\nname = \"pre\"\nop = \"relu\"\n\n[[layers]]\n"
                                         "name = \"fc1\""),
                                    "my.toml");
  ASSERT_TRUE(network);
  const auto costs = Costs(*network);
  ASSERT_EQ(costs.size(), 4U);
  EXPECT_FALSE(costs[0].input_needs_gradient);
  EXPECT_FALSE(costs[1].input_needs_gradient);  // only an activation of the data before it
  EXPECT_TRUE(costs[2].input_needs_gradient);
  EXPECT_EQ(costs[1].multiply_adds, 20);
  EXPECT_EQ(costs[1].parameters, 25);
  EXPECT_EQ(costs[1].parameter_bytes, 100);
  EXPECT_EQ(costs[1].activation_bytes, 20);
  EXPECT_EQ(ForwardMultiplyAdds(*network), 20 + 15);
  EXPECT_EQ(TrainingStepFlops(*network, 8), 2 * 8 * (3 * 35 - 20));
}

}  // namespace
}  // namespace dlbench::network
