#pragma once

#include <optional>
#include <string_view>

#include "network/network.h"
#include "network/ops/op.h"
#include "network/table_reader.h"

namespace dlbench::network {

/// How the first values of weights or biases are drawn, as a network file says it.
struct InitialRule {
  enum class Distribution {
    kConstant,           ///< Every value is `number`.
    kUniform,            ///< Uniform in (-number, number).
    kUniformAround,      ///< Uniform in (centre - number, centre + number).
    kUniformFanIn,       ///< Bound number / sqrt(fan_in); He and others' rules differ in `number`.
    kUniformFanAverage,  ///< Bound number * sqrt(6 / (fan_in + fan_out)); Glorot and Bengio 2010.
  };
  Distribution distribution = Distribution::kConstant;
  double number = 0.0;
  double centre = 0.0;  ///< Of kUniformAround.
};

/// Reads the rule under `key`, for example {distribution = "uniform_fan_in", gain = 1.0}.
std::optional<InitialRule> ReadInitialRule(TableReader& reader, std::string_view key,
                                           Diagnostics& diagnostics);
/// The rule for one tensor. Square root and division are exactly rounded, so bit-equal everywhere.
Initializer Resolve(const InitialRule& rule, const ParameterSpec& parameter);

}  // namespace dlbench::network
