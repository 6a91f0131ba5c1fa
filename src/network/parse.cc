#include "network/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/text.h"
#include "network/diagnostics.h"
#include "network/layers.h"
#include "network/limits.h"
#include "network/table_reader.h"

namespace dlbench::network {
namespace {

/// Version of the file format (docs/networks.md).
constexpr std::int64_t kFormat = 1;
constexpr std::int64_t kMaxClasses = 10'000'000;
constexpr std::size_t kMaxTitle = 100;
constexpr std::size_t kMaxDescription = 4000;
/// Rates and scales beyond these vanish or overflow in float32.
constexpr double kSmallestRate = 1e-10;
constexpr double kLargestRate = 1e4;

/// Kinds of data with the sizes that they have; 0: any.
struct DatasetKind {
  const char* name;
  std::int64_t elements;
  std::int64_t classes;
};
constexpr DatasetKind kDatasets[] = {{"mnist", 784, 10}, {"synthetic", 0, 0}};

void ReadHeader(TableReader& reader, Network& network) {
  reader.Int("format", kFormat, kFormat);
  network.name = reader.Name("name").value_or("");
  if (reader.Has("variant")) network.variant = reader.Name("variant").value_or("");
  network.title = reader.Text("title", kMaxTitle).value_or("");
  network.description = reader.Text("description", kMaxDescription).value_or("");
  network.classes = reader.Int("classes", 2, kMaxClasses).value_or(0);
}

std::optional<Shape> ReadInput(TableReader& top, Network& network, Diagnostics& diagnostics) {
  const Value* value = top.Table("input");
  if (value == nullptr) return std::nullopt;
  TableReader reader(*value, "[input]", diagnostics);
  const auto shape = reader.Sizes("shape");
  std::vector<std::string> kinds;
  for (const DatasetKind& kind : kDatasets) kinds.emplace_back(kind.name);
  const auto dataset = reader.Choice("dataset", kinds);
  network.input.shape = shape.value_or(Shape{});
  network.input.dataset = dataset.value_or("");
  network.input.scale = reader.Real("scale", kSmallestRate, 1 / kSmallestRate).value_or(1.0);
  network.input.offset = reader.Real("offset", -1e6, 1e6).value_or(0.0);
  reader.RejectUnknownKeys();
  for (const DatasetKind& kind : kDatasets) {
    if (!shape || !dataset || *dataset != kind.name || kind.elements == 0) continue;
    if (ElementCount(*shape) != kind.elements) {
      reader.Complain(
          "shape", fmt::format("the input {} has {} elements, but '{}' has {}; correct "
                               "'shape' or 'dataset'",
                               ToString(*shape), ElementCount(*shape), kind.name, kind.elements));
    }
    if (network.classes != 0 && network.classes != kind.classes) {
      top.Complain("classes", fmt::format("'classes' is {}, but '{}' has {}; correct 'classes' or "
                                          "'dataset'",
                                          network.classes, kind.name, kind.classes));
    }
  }
  return shape;
}

/// Also says whether biases decay.
bool ReadOptimizer(TableReader& top, Network& network, Diagnostics& diagnostics) {
  const Value* value = top.Table("optimizer");
  if (value == nullptr) return false;
  TableReader reader(*value, "[optimizer]", diagnostics);
  Optimizer& optimizer = network.optimizer;
  optimizer.kind = reader.Choice("kind", {"sgd"}).value_or("");
  optimizer.learning_rate = reader.Real("learning_rate", kSmallestRate, kLargestRate).value_or(0.0);
  // At momentum 1 and above nothing ever stops.
  optimizer.momentum = reader.Real("momentum", 0.0, 0.9999).value_or(0.0);
  optimizer.weight_decay = reader.Real("weight_decay", 0.0, kLargestRate).value_or(0.0);
  const auto decays = reader.Choice("decays", {"all", "weights"});
  const auto nesterov = reader.Bool("nesterov");
  optimizer.nesterov = nesterov.value_or(false);
  if (optimizer.nesterov && optimizer.momentum == 0.0) {
    reader.Complain("nesterov",
                    "'nesterov' is true but 'momentum' is 0; set a momentum or nesterov = false");
  }
  reader.RejectUnknownKeys();
  return decays == "all";
}

LayerDefaults ReadInitial(TableReader& top, Diagnostics& diagnostics) {
  LayerDefaults defaults;
  const Value* value = top.Table("initial");
  if (value == nullptr) return defaults;
  TableReader reader(*value, "[initial]", diagnostics);
  defaults.weights = ReadInitialRule(reader, "weights", diagnostics);
  defaults.biases = ReadInitialRule(reader, "biases", diagnostics);
  reader.RejectUnknownKeys();
  return defaults;
}

void ReadLoss(TableReader& top, const ResolvedLayers& layers, bool layers_ok, Network& network,
              Diagnostics& diagnostics) {
  const Value* value = top.Table("loss");
  if (value == nullptr) return;
  TableReader reader(*value, "[loss]", diagnostics);
  network.loss.kind = reader.Choice("kind", {"softmax_cross_entropy"}).value_or("");
  network.loss.reduction = reader.Choice("reduction", {"mean", "sum"}).value_or("");
  const auto input = reader.Text("input", kMaxTitle);
  reader.RejectUnknownKeys();
  if (!input || !layers_ok) return;
  std::vector<std::string> known;
  for (const auto& entry : layers.names) {
    if (entry.first != "input") known.push_back(entry.first);
  }
  const auto found = layers.names.find(*input);
  if (found == layers.names.end() || *input == "input") {
    reader.Complain("input", fmt::format("the loss takes its logits from '{}', which is no layer{}",
                                         *input, SuggestionFor(*input, known)));
    return;
  }
  network.loss.input = found->second;
  for (const Node& node : network.nodes) {
    if (node.name != network.loss.input || node.output_shape == Shape{network.classes}) continue;
    reader.Complain("input", fmt::format("the logits of '{}' have shape {}, but there are {} "
                                         "classes; they must have shape [{}]",
                                         *input, ToString(node.output_shape), network.classes,
                                         network.classes));
  }
}

/// A node that the loss does not see has no gradient; frameworks differ in what they make of that.
void RejectUnusedNodes(const Network& network, Diagnostics& diagnostics) {
  std::set<std::string> used{network.loss.input};
  for (auto node = network.nodes.rbegin(); node != network.nodes.rend(); ++node) {
    if (used.count(node->name) == 0) {
      diagnostics.Add({node->line, 1}, fmt::format("the output of layer '{}' is not used; remove "
                                                   "the layer or name it in another's 'inputs'",
                                                   node->name));
      continue;
    }
    used.insert(node->inputs.begin(), node->inputs.end());
  }
  if (network.Parameters().empty()) {
    diagnostics.Add({}, "the network has no parameters to train; add a layer that has, like dense");
  }
}

}  // namespace

Result<Network> ParseNetwork(std::string_view text, const std::string& file_name) {
  DLBENCH_ASSIGN_OR_RETURN(const Value document, ParseDocument(text, file_name));
  Diagnostics diagnostics(file_name);
  TableReader reader(document, "the network", diagnostics);
  Network network;
  network.source = file_name;
  ReadHeader(reader, network);
  const auto input_shape = ReadInput(reader, network, diagnostics);
  LayerDefaults defaults = ReadInitial(reader, diagnostics);
  defaults.biases_decay = ReadOptimizer(reader, network, diagnostics);
  const Value::Array* layers = reader.Tables("layers");
  ResolvedLayers resolved;
  const std::size_t errors_before_layers = diagnostics.count();
  if (layers != nullptr) {
    resolved = ResolveLayers(*layers, input_shape.value_or(Shape{}), defaults, diagnostics);
    network.nodes = std::move(resolved.nodes);
  }
  const bool layers_ok = layers != nullptr && diagnostics.count() == errors_before_layers;
  ReadLoss(reader, resolved, layers_ok && network.classes > 0 && input_shape.has_value(), network,
           diagnostics);
  reader.RejectUnknownKeys();
  if (diagnostics.ok()) RejectUnusedNodes(network, diagnostics);
  if (!diagnostics.ok()) return diagnostics.ToError();
  return network;
}

}  // namespace dlbench::network
