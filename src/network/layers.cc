#include "network/layers.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "core/text.h"
#include "network/limits.h"
#include "network/ops/op.h"

namespace dlbench::network {
namespace {

constexpr const char* kInput = "input";
constexpr const char* kGroupInput = "group_input";

using Names = std::map<std::string, std::string>;

/// Walks the layers in order, once for each repetition.
class Resolver {
 public:
  Resolver(const LayerDefaults& defaults, Diagnostics& diagnostics)
      : defaults_(defaults), diagnostics_(diagnostics) {}

  ResolvedLayers Run(const Value::Array& layers, const Shape& input_shape) {
    shapes_[kInput] = input_shape;
    scopes_.push_back({{kInput, kInput}});
    ResolveList(layers, "");
    resolved_.names = scopes_.front();
    return std::move(resolved_);
  }

 private:
  void ResolveList(const Value::Array& layers, const std::string& prefix);
  void ResolveGroup(TableReader& reader, const std::string& prefix);
  void ResolveLayer(TableReader& reader, const Value& value, const std::string& prefix);
  void Infer(TableReader& reader, const Op& op, Node& node);
  void AddParameters(TableReader& reader, const Inference& inference, Node& node);
  std::optional<std::string> DeclareName(TableReader& reader);
  std::vector<std::string> ResolveInputs(TableReader& reader, const Op& op);
  std::optional<std::string> LookUp(const std::string& name) const;
  Attributes ReadAttributes(TableReader& reader, const Op& op);
  bool CountTowardsLimits(const Node& node, Position position);

  const LayerDefaults& defaults_;
  Diagnostics& diagnostics_;
  ResolvedLayers resolved_;
  std::string previous_ = kInput;
  std::map<std::string, std::optional<Shape>> shapes_;  ///< Nothing where an error hides it.
  std::vector<Names> scopes_;                           ///< Innermost last.
  std::int64_t parameters_ = 0;
  std::int64_t activations_ = 0;
  bool too_large_ = false;
};

void Resolver::ResolveList(const Value::Array& layers, const std::string& prefix) {
  for (const Value& value : layers) {
    if (too_large_) return;
    TableReader reader(value, "a layer", diagnostics_);
    if (reader.Has("repeat") || reader.Has("layers")) {
      ResolveGroup(reader, prefix);
    } else {
      ResolveLayer(reader, value, prefix);
    }
  }
}

std::optional<std::string> Resolver::DeclareName(TableReader& reader) {
  const auto name = reader.Name("name");
  if (!name) return std::nullopt;
  const bool reserved = *name == kInput || *name == kGroupInput;
  if (reserved || scopes_.back().count(*name) > 0) {
    reader.Complain("name", fmt::format("the name '{}' is {}; choose another", *name,
                                        reserved ? "reserved" : "used twice"));
    return std::nullopt;
  }
  return name;
}

void Resolver::ResolveGroup(TableReader& outer, const std::string& prefix) {
  const auto name = DeclareName(outer);
  const auto repeat = outer.Int("repeat", 1, kMaxRepeat);
  const Value::Array* layers = outer.Tables("layers");
  outer.RejectUnknownKeys();
  if (scopes_.size() > kMaxGroupDepth) {
    diagnostics_.Add(outer.position(), fmt::format("groups are nested more than {} deep; flatten "
                                                   "them",
                                                   kMaxGroupDepth));
    return;
  }
  if (layers == nullptr) return;
  for (std::int64_t i = 1; i <= repeat.value_or(1); ++i) {
    const std::size_t errors = diagnostics_.count();
    scopes_.push_back({{kGroupInput, previous_}});
    ResolveList(*layers, fmt::format("{}{}.{}.", prefix, name.value_or("?"), i));
    scopes_.pop_back();
    // A repetition after a faulty one only repeats its errors.
    if (diagnostics_.count() > errors || too_large_) break;
  }
  if (name) scopes_.back()[*name] = previous_;
}

std::optional<std::string> Resolver::LookUp(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end()) return found->second;
  }
  return std::nullopt;
}

std::vector<std::string> Resolver::ResolveInputs(TableReader& reader, const Op& op) {
  if (!reader.Has("inputs")) return {previous_};
  const auto names = reader.Names("inputs");
  if (!names) return {};
  std::vector<std::string> inputs;
  for (const std::string& name : *names) {
    const auto node = LookUp(name);
    if (!node) {
      std::vector<std::string> known;
      for (const Names& scope : scopes_) {
        for (const auto& entry : scope) known.push_back(entry.first);
      }
      const std::string start = name.substr(0, 64);
      reader.Complain("inputs", fmt::format("{} takes its input from '{}', which no layer before "
                                            "it is called{}",
                                            reader.where(), start, SuggestionFor(start, known)));
      return {};
    }
    inputs.push_back(*node);
  }
  if (inputs.size() != op.inputs) {
    reader.Complain("inputs", fmt::format("{} has {} inputs; {} takes {}", reader.where(),
                                          inputs.size(), op.name, op.inputs));
    return {};
  }
  return inputs;
}

Attributes Resolver::ReadAttributes(TableReader& reader, const Op& op) {
  Attributes attributes;
  for (const AttributeSpec& spec : op.attributes) {
    switch (spec.kind) {
      case AttributeSpec::Kind::kInteger:
        if (const auto value = reader.Int(spec.name, static_cast<std::int64_t>(spec.minimum),
                                          static_cast<std::int64_t>(spec.maximum))) {
          attributes[spec.name] = *value;
        }
        break;
      case AttributeSpec::Kind::kReal:
        if (const auto value = reader.Real(spec.name, spec.minimum, spec.maximum)) {
          attributes[spec.name] = *value;
        }
        break;
      case AttributeSpec::Kind::kBoolean:
        if (const auto value = reader.Bool(spec.name)) attributes[spec.name] = *value;
        break;
      case AttributeSpec::Kind::kChoice:
        if (const auto value = reader.Choice(spec.name, spec.choices)) {
          attributes[spec.name] = *value;
        }
        break;
    }
  }
  return attributes;
}

void Resolver::ResolveLayer(TableReader& unnamed, const Value& value, const std::string& prefix) {
  const auto name = DeclareName(unnamed);
  TableReader reader(value, name ? "layer '" + *name + "'" : "a layer", diagnostics_);
  reader.Has("name");
  std::vector<std::string> ops;
  for (const auto& entry : AllOps()) ops.push_back(entry.first);
  Node node;
  node.name = prefix + name.value_or("?");
  node.line = value.position.line;
  if (const auto op_name = reader.Choice("op", ops)) {
    const Op& op = *FindOp(*op_name);
    node.op = op.name;
    node.inputs = ResolveInputs(reader, op);
    node.attributes = ReadAttributes(reader, op);
    Infer(reader, op, node);
    reader.RejectUnknownKeys();
  }
  shapes_[node.name] =
      node.output_shape.empty() ? std::nullopt : std::optional<Shape>(node.output_shape);
  previous_ = node.name;
  if (name) scopes_.back()[*name] = node.name;
  if (CountTowardsLimits(node, value.position)) resolved_.nodes.push_back(std::move(node));
}

void Resolver::Infer(TableReader& reader, const Op& op, Node& node) {
  std::vector<Shape> shapes;
  for (const std::string& input : node.inputs) {
    if (const auto& shape = shapes_[input]) shapes.push_back(*shape);
  }
  const bool complete =
      shapes.size() == op.inputs && node.attributes.size() == op.attributes.size();
  if (!complete) {  // the cause has been told
    reader.Has("initial_weights");
    reader.Has("initial_biases");
    return;
  }
  auto inference = op.infer(node.attributes, shapes);
  if (!inference) {
    diagnostics_.Add(reader.position(),
                     fmt::format("{}: {}", reader.where(), inference.error().message()));
    return;
  }
  node.output_shape = inference->output_shape;
  AddParameters(reader, *inference, node);
}

void Resolver::AddParameters(TableReader& reader, const Inference& inference, Node& node) {
  auto weights = defaults_.weights;
  auto biases = defaults_.biases;
  bool has_bias = false;
  for (const ParameterSpec& spec : inference.parameters) {
    has_bias = has_bias || spec.role == ParameterSpec::Role::kBias;
  }
  // Where there is nothing to initialise, these keys stay unknown ones.
  if (!inference.parameters.empty() && reader.Has("initial_weights")) {
    weights = ReadInitialRule(reader, "initial_weights", diagnostics_);
  }
  if (has_bias && reader.Has("initial_biases")) {
    biases = ReadInitialRule(reader, "initial_biases", diagnostics_);
  }
  for (const ParameterSpec& spec : inference.parameters) {
    const bool is_bias = spec.role == ParameterSpec::Role::kBias;
    const auto& rule = is_bias ? biases : weights;
    if (!rule) continue;  // the cause has been told
    node.parameters.push_back({node.name + "." + spec.suffix, spec.shape, Resolve(*rule, spec),
                               !is_bias || defaults_.biases_decay});
  }
}

bool Resolver::CountTowardsLimits(const Node& node, Position position) {
  for (const Parameter& parameter : node.parameters) parameters_ += ElementCount(parameter.shape);
  activations_ += ElementCount(node.output_shape);
  const auto nodes = static_cast<std::int64_t>(resolved_.nodes.size()) + 1;
  std::string excess;
  if (nodes > kMaxNodes) excess = fmt::format("{} layers", kMaxNodes);
  if (parameters_ > kMaxParameters) excess = fmt::format("{} parameters", kMaxParameters);
  if (activations_ > kMaxActivations) {
    excess = fmt::format("{} activations a sample", kMaxActivations);
  }
  if (excess.empty()) return true;
  too_large_ = true;
  diagnostics_.Add(position, fmt::format("the network has more than {} up to here; use fewer or "
                                         "smaller layers, or a smaller 'repeat'",
                                         excess));
  return false;
}

}  // namespace

ResolvedLayers ResolveLayers(const Value::Array& layers, const Shape& input_shape,
                             const LayerDefaults& defaults, Diagnostics& diagnostics) {
  return Resolver(defaults, diagnostics).Run(layers, input_shape);
}

}  // namespace dlbench::network
