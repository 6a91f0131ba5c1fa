#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "network/network.h"

namespace dlbench::experiment {

/// What is wrong with a file that must hold every parameter of `network` as float32 under its
/// canonical name and shape, and nothing else; empty if all is well.
std::string FaultOfParameters(const std::filesystem::path& file, const network::Network& network);
/// What is wrong with a file that must hold "logits" F32 [batch, classes]; empty if all is well.
std::string FaultOfLogits(const std::filesystem::path& file, const network::Network& network,
                          std::int64_t batch);
/// Whether two parameter files that have been found well hold the same bytes.
bool SameParameters(const std::filesystem::path& a, const std::filesystem::path& b,
                    const network::Network& network);
/// "crc32:1a2b3c4d" over the parameters of a well file, in the network's order.
std::string ParameterChecksum(const std::filesystem::path& file, const network::Network& network);

}  // namespace dlbench::experiment
