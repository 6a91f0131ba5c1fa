#include "network/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/text.h"
#include "network/limits.h"
#include "network/ops/op.h"

namespace dlbench::network {
namespace {

constexpr const char* kInput = "input";
constexpr const char* kGroupInput = "group_input";
constexpr std::array<const char*, 3> kInitialKeys = {"initial_weights", "initial_biases",
                                                     "initial_scales"};

using Names = std::map<std::string, std::string>;

/// Walks the layers in order, once for each repetition.
class Resolver {
 public:
  Resolver(const LayerDefaults& defaults, Diagnostics& diagnostics)
      : defaults_(defaults), diagnostics_(diagnostics) {}

  ResolvedLayers Run(const Value::Array& layers, const Input& input) {
    if (!input.shape.empty()) shapes_[kInput] = input.shape;
    vocabulary_ = input.vocabulary;
    scopes_.push_back({{kInput, kInput}});
    ResolveList(layers, "");
    resolved_.names = scopes_.front();
    return std::move(resolved_);
  }

 private:
  void ResolveList(const Value::Array& layers, const std::string& prefix);
  void ResolveGroup(TableReader& outer, const std::string& prefix);
  void ResolveLayer(TableReader& unnamed, const Value& value, const std::string& prefix);
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
  std::int64_t vocabulary_ = 0;                         ///< Of the input; 0 where it holds values.
  std::int64_t parameters_ = 0;
  std::int64_t activations_ = 0;
  std::int64_t multiply_adds_ = 0;
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
  auto name = reader.Name("name");
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
  if (!reader.Has("inputs")) {
    if (op.inputs == 1) return {previous_};
    reader.Complain("inputs", fmt::format("{} has no 'inputs'; name the {} layers that {} takes",
                                          reader.where(), op.inputs, op.name));
    return {};
  }
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
      case AttributeSpec::Kind::kIntegers:
        if (const auto value =
                reader.Ints(spec.name, spec.length, static_cast<std::int64_t>(spec.minimum),
                            static_cast<std::int64_t>(spec.maximum))) {
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
    if (const auto defaults = defaults_.attributes.find(op.name);
        defaults != defaults_.attributes.end()) {
      reader.SetFallback(*defaults->second);
    }
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
  std::vector<LayerInput> inputs;
  bool tokens_fit = true;
  for (const std::string& input : node.inputs) {
    const std::int64_t vocabulary = input == kInput ? vocabulary_ : 0;
    if (const auto& shape = shapes_[input]) inputs.push_back({*shape, vocabulary});
    tokens_fit = tokens_fit && (vocabulary > 0) == op.takes_tokens;
  }
  if (!tokens_fit) {
    reader.Complain(
        "inputs", fmt::format("{}: {}", reader.where(),
                              op.takes_tokens ? op.name + " takes token ids, but its input are "
                                                          "numbers"
                                              : op.name + " takes numbers, but its input are token "
                                                          "ids; embed them first"));
  }
  const bool complete =
      tokens_fit && inputs.size() == op.inputs && node.attributes.size() == op.attributes.size();
  if (!complete) {  // the cause has been told
    for (const char* key : kInitialKeys) reader.Has(key);
    return;
  }
  auto inference = op.infer(node.attributes, inputs);
  if (!inference) {
    diagnostics_.Add(reader.position(),
                     fmt::format("{}: {}", reader.where(), inference.error().message()));
    return;
  }
  node.output_shape = inference->output_shape;
  for (const BufferSpec& spec : inference->buffers) {
    node.buffers.push_back(
        {node.name + "." + spec.suffix, spec.shape, spec.initial, spec.per_sample});
  }
  AddParameters(reader, *inference, node);
  multiply_adds_ += std::min(inference->multiply_adds, kMaxMultiplyAdds + 1);  // no overflow
}

void Resolver::AddParameters(TableReader& reader, const Inference& inference, Node& node) {
  using Role = ParameterSpec::Role;
  std::map<Role, std::optional<InitialRule>> rules = {{Role::kWeight, defaults_.weights},
                                                      {Role::kBias, defaults_.biases},
                                                      {Role::kScale, defaults_.scales}};
  // Where there is nothing to initialise, these keys stay unknown ones.
  for (const auto& [key, role] :
       {std::pair{kInitialKeys[0], Role::kWeight}, std::pair{kInitialKeys[1], Role::kBias},
        std::pair{kInitialKeys[2], Role::kScale}}) {
    const Role wanted = role;  // clang 14 captures no structured binding
    const bool used =
        std::any_of(inference.parameters.begin(), inference.parameters.end(),
                    [wanted](const ParameterSpec& spec) { return spec.role == wanted; });
    if (used && reader.Has(key)) rules[role] = ReadInitialRule(reader, key, diagnostics_);
  }
  for (const ParameterSpec& spec : inference.parameters) {
    const auto& rule = rules.at(spec.role);
    if (!rule) continue;  // the cause has been told
    node.parameters.push_back({node.name + "." + spec.suffix, spec.shape, Resolve(*rule, spec),
                               spec.role == Role::kWeight || defaults_.biases_decay});
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
  if (multiply_adds_ > kMaxMultiplyAdds) {
    excess = fmt::format("{} multiply-adds a sample", kMaxMultiplyAdds);
  }
  if (excess.empty()) return true;
  too_large_ = true;
  diagnostics_.Add(position, fmt::format("the network has more than {} up to here; use fewer or "
                                         "smaller layers, or a smaller 'repeat'",
                                         excess));
  return false;
}

}  // namespace

ResolvedLayers ResolveLayers(const Value::Array& layers, const Input& input,
                             const LayerDefaults& defaults, Diagnostics& diagnostics) {
  return Resolver(defaults, diagnostics).Run(layers, input);
}

}  // namespace dlbench::network
