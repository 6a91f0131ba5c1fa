#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "network/network.h"

namespace dlbench::network {

/// Parses and resolves the text of a network file, as it stands or as one of its variants. Errors
/// read "FILE:LINE:COLUMN: what; what to do"; an unknown variant is kNotFound.
Result<Network> ParseNetwork(std::string_view text, const std::string& file_name,
                             const std::string& variant = "");
/// Names of the variants in the text of a network file, in its order; the layers are not looked at.
Result<std::vector<std::string>> VariantNames(std::string_view text, const std::string& file_name);
/// Reads `path` and parses it.
Result<Network> LoadNetwork(const std::filesystem::path& path, const std::string& variant = "");
/// Reads `path` and parses it as it stands, first, and as each of its variants.
Result<std::vector<Network>> LoadAllVariants(const std::filesystem::path& path);

/// Finds `name_or_path`: a path if it holds a '/' or ends in ".toml" (".toml#VARIANT" for a
/// variant), else NAME.toml in `folders`, else the variant of BASE.toml that NAME = BASE-VARIANT
/// names. An unknown name is kNotFound with the nearest known name.
Result<Network> FindNetwork(const std::string& name_or_path,
                            const std::vector<std::filesystem::path>& folders);
/// Names of the networks in `folders` and, as BASE-VARIANT, of their variants, sorted.
std::vector<std::string> ListNetworks(const std::vector<std::filesystem::path>& folders);

/// The resolved network as the JSON text of docs/protocol.md ("network" of `prepare`).
std::string ToProtocolJson(const Network& network);

}  // namespace dlbench::network
