#include "network/initial.h"

#include <cmath>
#include <string>
#include <utility>

namespace dlbench::network {
namespace {

using Distribution = InitialRule::Distribution;

/// Values beyond overflow float32 in a few layers.
constexpr double kLargest = 1e6;
constexpr double kSmallest = 1e-12;

struct Form {
  const char* name;
  Distribution distribution;
  const char* number_key;
  double minimum;
};
constexpr Form kForms[] = {
    {"constant", Distribution::kConstant, "value", -kLargest},
    {"uniform", Distribution::kUniform, "bound", kSmallest},
    {"uniform_around", Distribution::kUniformAround, "bound", kSmallest},
    {"uniform_fan_in", Distribution::kUniformFanIn, "gain", kSmallest},
    {"uniform_fan_average", Distribution::kUniformFanAverage, "gain", kSmallest},
};

}  // namespace

std::optional<InitialRule> ReadInitialRule(TableReader& reader, std::string_view key,
                                           Diagnostics& diagnostics) {
  const Value* value = reader.Table(key);
  if (value == nullptr) return std::nullopt;
  TableReader rule_reader(*value, "'" + std::string(key) + "' of " + reader.where(), diagnostics);
  std::vector<std::string> names;
  for (const Form& form : kForms) names.emplace_back(form.name);
  const auto name = rule_reader.Choice("distribution", names);
  if (!name) return std::nullopt;
  std::optional<InitialRule> rule;
  for (const Form& form : kForms) {
    if (*name != form.name) continue;
    if (const auto number = rule_reader.Real(form.number_key, form.minimum, kLargest)) {
      rule = InitialRule{form.distribution, *number, 0.0};
    }
    if (form.distribution != Distribution::kUniformAround) continue;
    const auto centre = rule_reader.Real("centre", -kLargest, kLargest);
    if (centre && rule) rule->centre = *centre;
  }
  rule_reader.RejectUnknownKeys();
  return rule;
}

Initializer Resolve(const InitialRule& rule, const ParameterSpec& parameter) {
  const auto fan_in = static_cast<double>(parameter.fan_in);
  const auto fan_out = static_cast<double>(parameter.fan_out);
  switch (rule.distribution) {
    case Distribution::kConstant:
      return {Initializer::Kind::kConstant, rule.number, 0.0};
    case Distribution::kUniform:
      return {Initializer::Kind::kUniform, rule.number, 0.0};
    case Distribution::kUniformAround:
      return {Initializer::Kind::kUniform, rule.number, rule.centre};
    case Distribution::kUniformFanIn:
      return {Initializer::Kind::kUniform, rule.number / std::sqrt(fan_in), 0.0};
    case Distribution::kUniformFanAverage:
      return {Initializer::Kind::kUniform, rule.number * std::sqrt(6.0 / (fan_in + fan_out)), 0.0};
  }
  return {};
}

}  // namespace dlbench::network
