#pragma once

#include <compare>
#include <string_view>

namespace dlbench::machine {

/// Compares dotted versions part by part: numbers by value, text by letters, a missing part before
/// any other, a pre-release ("2.0.0rc1") before its release. "1.13" comes after "1.9". Versions
/// stay text everywhere; none is ever turned into a floating-point number.
std::strong_ordering CompareVersions(std::string_view a, std::string_view b);
/// The version as shown: "unknown" for an empty one.
std::string_view ShownVersion(std::string_view version);

}  // namespace dlbench::machine
