#include "network/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/text.h"
#include "network/diagnostics.h"
#include "network/input.h"
#include "network/layers.h"
#include "network/ops/op.h"
#include "network/table_reader.h"
#include "network/variants.h"

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

void ReadHeader(TableReader& reader, Network& network) {
  reader.Int("format", kFormat, kFormat);
  network.name = reader.Name("name").value_or("");
  network.title = reader.Text("title", kMaxTitle).value_or("");
  network.description = reader.Text("description", kMaxDescription).value_or("");
  network.classes = reader.Int("classes", 2, kMaxClasses).value_or(0);
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
  // Scales of 1 are what every framework begins with.
  defaults.scales = reader.Has("scales") ? ReadInitialRule(reader, "scales", diagnostics)
                                         : InitialRule{InitialRule::Distribution::kConstant, 1, 0};
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
    if (node.name != network.loss.input) continue;
    const Shape& shape = node.output_shape;
    const bool sequence = shape.size() == 2;
    if ((sequence || shape.size() == 1) && shape.back() == network.classes) continue;
    reader.Complain("input",
                    fmt::format("the logits of '{}' have shape {}, but there are {} classes; they "
                                "must have shape [{}{}]",
                                *input, ToString(shape), network.classes,
                                sequence ? std::to_string(shape[0]) + ", " : "", network.classes));
  }
}

/// Attributes that layers of an op share in this file.
void ReadDefaults(TableReader& top, LayerDefaults& defaults, Diagnostics& diagnostics) {
  if (!top.Has("defaults")) return;
  const Value* value = top.Table("defaults");
  if (value == nullptr) return;
  TableReader reader(*value, "[defaults]", diagnostics);
  for (const auto& [name, op] : AllOps()) {
    if (!reader.Has(name)) continue;
    const Value* attributes = reader.Table(name);
    if (attributes == nullptr) continue;
    TableReader keys(*attributes, "'" + name + "' of [defaults]", diagnostics);
    for (const AttributeSpec& spec : op.attributes) keys.Has(spec.name);
    keys.RejectUnknownKeys();
    defaults.attributes[name] = attributes;
  }
  reader.RejectUnknownKeys();
}

/// The document as `variant` has it; an unknown one is an error.
Result<Value> SelectVariant(const Value& document, const std::string& variant,
                            const std::string& file_name) {
  Diagnostics diagnostics(file_name);
  const std::vector<Variant> variants = ReadVariants(document, diagnostics);
  if (!diagnostics.ok()) return diagnostics.ToError();
  if (variant.empty()) return document;
  std::vector<std::string> names;
  for (const Variant& known : variants) {
    if (known.name == variant) return WithChanges(document, known);
    names.push_back(known.name);
  }
  return Error(ErrorCode::kNotFound, Locate(file_name, {},
                                            "there is no variant '" + Printable(variant) + "'" +
                                                SuggestionFor(variant, names)));
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

Result<Network> ParseNetwork(std::string_view text, const std::string& file_name,
                             const std::string& variant) {
  DLBENCH_ASSIGN_OR_RETURN(const Value written, ParseDocument(text, file_name));
  DLBENCH_ASSIGN_OR_RETURN(const Value document, SelectVariant(written, variant, file_name));
  Diagnostics diagnostics(file_name);
  TableReader reader(document, "the network", diagnostics);
  Network network;
  network.source = file_name;
  network.variant = variant;
  ReadHeader(reader, network);
  reader.Has("variants");
  const auto input_shape = ReadInput(reader, network, diagnostics);
  LayerDefaults defaults = ReadInitial(reader, diagnostics);
  defaults.biases_decay = ReadOptimizer(reader, network, diagnostics);
  ReadDefaults(reader, defaults, diagnostics);
  const Value::Array* layers = reader.Tables("layers");
  ResolvedLayers resolved;
  const std::size_t errors_before_layers = diagnostics.count();
  if (layers != nullptr) {
    resolved = ResolveLayers(*layers, network.input, defaults, diagnostics);
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

Result<std::vector<std::string>> VariantNames(std::string_view text, const std::string& file_name) {
  DLBENCH_ASSIGN_OR_RETURN(const Value document, ParseDocument(text, file_name));
  Diagnostics diagnostics(file_name);
  std::vector<std::string> names;
  for (const Variant& variant : ReadVariants(document, diagnostics)) names.push_back(variant.name);
  if (!diagnostics.ok()) return diagnostics.ToError();
  return names;
}

}  // namespace dlbench::network
