#pragma once

#include <string>
#include <vector>

#include "verify/gate_data.h"

namespace dlbench::verify {

/// Whether `error` is within both limits.
bool Within(const ErrorFigures& error, const Limit& limit);

/// The values as float64.
std::vector<double> Widen(const std::vector<float>& values);

/// The cause of a wrong update: the known rule that leads to the candidate's weights within the
/// limits; empty if there is none.
std::string DiagnoseUpdate(const GateData& data, const Answers& answers);

/// The cause of a wrong update in the steps after the run.
std::string DiagnoseStep(const GateData& data, const StepFiles& files);

}  // namespace dlbench::verify
