#pragma once

#include <filesystem>

#include "core/result.h"
#include "verify/gate_data.h"

namespace dlbench::verify {

/// Writes the reference's results for another program to compare with, as safetensors F64: logits,
/// gradients, weights after each kept number of steps, and a README.md that says how to recompute
/// the gate.
Status WriteReferenceFiles(const GateData& data, const std::filesystem::path& folder);

}  // namespace dlbench::verify
