#pragma once

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

namespace dlbench::cli {

/// Accepts numbers above 0. CLI::PositiveNumber says the same with all 309 digits of the largest
/// double.
inline CLI::Validator AboveZero() {
  return {[](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (end != text.c_str() && *end == '\0' && value > 0.0) return "";
            return "'" + text + "' is no number above 0";
          },
          "above 0"};
}

}  // namespace dlbench::cli
