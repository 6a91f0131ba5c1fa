#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace dlbench::machine {

/// Seconds of CPU time that all processes of the machine have taken together since it started, with
/// what a hypervisor took away ("steal"), from /proc/stat's first line. `ticks` is how many units
/// make a second. Nothing for other text.
std::optional<double> ParseBusySeconds(std::string_view stat, double ticks);
/// The same, read now.
std::optional<double> BusySeconds(const std::filesystem::path& root = "/");

/// Tells whether other processes took CPU time between construction and Disturbed().
class DisturbanceWatch {
 public:
  explicit DisturbanceWatch(std::filesystem::path root = "/");
  /// True if others used more than 5 % of one CPU (and more than the counters' grain), or if this
  /// process got less than 90 % of `threads` CPUs that it kept busy. False where nothing is known.
  bool Disturbed(int threads) const;

 private:
  std::filesystem::path root_;
  std::optional<double> busy_;
  double own_ = 0;
  double wall_ = 0;
};

}  // namespace dlbench::machine
