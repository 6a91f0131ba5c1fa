#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "network/network.h"

namespace dlbench::network {

/// Parses and resolves the text of a network file. Errors read "FILE:LINE:COLUMN: what; what to
/// do".
Result<Network> ParseNetwork(std::string_view text, const std::string& file_name);
/// Reads `path` and parses it.
Result<Network> LoadNetwork(const std::filesystem::path& path);

/// Finds `name_or_path`: a path if it holds a '/' or ends in ".toml", else NAME.toml in `folders`.
/// An unknown name is kNotFound with the nearest known name.
Result<Network> FindNetwork(const std::string& name_or_path,
                            const std::vector<std::filesystem::path>& folders);
/// Names of the network files in `folders`, sorted.
std::vector<std::string> ListNetworks(const std::vector<std::filesystem::path>& folders);

/// The resolved network as the JSON text of docs/protocol.md ("network" of `prepare`).
std::string ToProtocolJson(const Network& network);

}  // namespace dlbench::network
