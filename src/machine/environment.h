#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dlbench::machine {

/// True for variables that change how fast frameworks compute. Everything else, secrets first of
/// all, is never read into a record.
bool IsRelevantVariable(std::string_view name);
/// The relevant ones of "NAME=VALUE" texts, valid UTF-8, values cut at 400 bytes.
std::map<std::string, std::string> RelevantEnvironment(const std::vector<std::string>& variables);
/// This process's variables, as "NAME=VALUE".
std::vector<std::string> ProcessEnvironment();

/// A variable that slows frameworks down, or changes what is measured, and what to do about it.
struct EnvironmentWarning {
  std::string text;
  std::string command;  ///< "unset NAME".
};
/// `usable_threads` is what OMP_NUM_THREADS and its like are compared with.
std::vector<EnvironmentWarning> EnvironmentWarnings(
    const std::map<std::string, std::string>& variables, int usable_threads);

}  // namespace dlbench::machine
