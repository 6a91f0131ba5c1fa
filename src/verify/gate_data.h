#pragma once

#include <string>
#include <vector>

#include "verify/gate.h"
#include "verify/limits.h"
#include "verify/situations.h"
#include "verify/trajectory.h"

namespace dlbench::verify {

/// Everything that the gate computed once, shared by its checks, its diagnosis and its blind spots.
struct GateData {
  GateCase gate_case;
  reference::State start;
  Sequence sequence;
  Trajectory reference;      ///< Along `sequence`.
  Trajectory run_reference;  ///< kRunSteps at the network's rate; losses only.
  Limits limits;
  std::vector<std::string> blind_spots;
  std::vector<std::string>
      mistrust;  ///< Reasons why the gate could not have failed; empty if it could.

  const network::Network& network() const { return *gate_case.network; }
};

/// Runs the reference and measures everything above for `gate_case`.
Result<GateData> MeasureCase(const GateCase& gate_case);

/// The tensors of a safetensors file, checked against the network's parameters: all there, float32,
/// right shapes. `what` names the file in errors.
Result<std::map<std::string, std::vector<float>>> LoadParameters(const network::Network& network,
                                                                 const std::filesystem::path& path,
                                                                 const std::string& what);
/// Likewise the network's buffers; one of each sample is [batch, shape].
Result<std::map<std::string, std::vector<float>>> LoadBuffers(const network::Network& network,
                                                              std::int64_t batch,
                                                              const std::filesystem::path& path,
                                                              const std::string& what);
/// What a reset gives every buffer, likewise.
std::map<std::string, std::vector<float>> InitialBuffers(const network::Network& network,
                                                         std::int64_t batch);
/// The logits file: tensor "logits", float32, [batch, (T,) classes].
Result<std::vector<float>> LoadLogits(const network::Network& network, std::int64_t batch,
                                      const std::filesystem::path& path);

/// Gradient from the first update, g = (w(0) - w(1)) / rate - decay * w(0), from zero velocity.
std::vector<double> DerivedGradient(const network::Optimizer& optimizer, bool decays, double rate,
                                    std::span<const double> before, std::span<const double> after);

/// The first pass of the case: batch 0 of the sequence with the initial weights; at most `samples`
/// samples.
Situation FirstSituation(const GateData& data, std::int64_t samples);

/// Applies every known fault to the reference and returns those that the limits would not see.
Result<std::vector<std::string>> FindBlindSpots(const GateData& data);

/// The likely cause of the first failed check, or nothing if no known fault explains it within the
/// limits.
std::string Diagnose(const GateData& data, const Check& failed, const Answers* answers,
                     const StepFiles* step);

}  // namespace dlbench::verify
