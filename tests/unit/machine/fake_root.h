#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "machine/environment.h"

namespace dlbench::machine {

/// A folder with a few files of /proc and /sys, deleted at the end of the test. The settings of the
/// process that a warning could be about are taken out of its environment.
class FakeRoot {
 public:
  FakeRoot() {
    for (const auto& [name, value] : RelevantEnvironment(ProcessEnvironment())) {
      ::unsetenv(name.c_str());
    }
    static std::atomic<int> counter{0};
    path_ = std::filesystem::temp_directory_path() /
            ("dlbench-machine-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
    std::filesystem::create_directories(path_);
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  const std::filesystem::path& path() const { return path_; }

  void Write(const std::string& file, std::string_view content) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file, std::ios::binary) << content;
  }

  /// CPUs first..last, each one core of `package` and of NUMA node `node`.
  void AddCpus(int first, int last, int package = 0, int node = 0) const {
    const std::string list = std::to_string(first) + "-" + std::to_string(last) + "\n";
    for (int cpu = first; cpu <= last; ++cpu) {
      const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
      Write(folder + "/topology/core_id", std::to_string(cpu) + "\n");
      Write(folder + "/topology/physical_package_id", std::to_string(package) + "\n");
      Write(folder + "/topology/thread_siblings", Mask(cpu, cpu));
      Write(folder + "/topology/core_cpus", Mask(cpu, cpu));
      Write(folder + "/topology/core_siblings", Mask(first, last));
      Write(folder + "/topology/package_cpus", Mask(first, last));
    }
    const std::string folder = "sys/devices/system/node/node" + std::to_string(node);
    Write(folder + "/cpumap", Mask(first, last));
    Write(folder + "/cpulist", list);
    Write(folder + "/meminfo", "Node " + std::to_string(node) + " MemTotal: 8000000 kB\n");
  }
  /// What the kernel says of all CPUs together; called once, after AddCpus.
  void FinishCpus(int last) const {
    const std::string list = "0-" + std::to_string(last) + "\n";
    for (const char* file : {"online", "possible", "present"}) {
      Write(std::string("sys/devices/system/cpu/") + file, list);
    }
    Write("proc/self/status", "Name:\ttest\nCpus_allowed_list:\t" + list);
    std::string info;
    for (int cpu = 0; cpu <= last; ++cpu) {
      info += "processor\t: " + std::to_string(cpu) +
              "\nvendor_id\t: GenuineIntel\nmodel name\t: Test CPU\nflags\t\t: fpu avx avx2\n\n";
    }
    Write("proc/cpuinfo", info);
    Write("proc/meminfo", "MemTotal:       16000000 kB\n");
  }

 private:
  /// The kernel's hexadecimal mask of the CPUs first..last (below 32).
  static std::string Mask(int first, int last) {
    unsigned mask = 0;
    for (int cpu = first; cpu <= last; ++cpu) mask |= 1U << cpu;
    char text[16];
    std::snprintf(text, sizeof text, "%08x\n", mask);
    return text;
  }

  std::filesystem::path path_;
};

}  // namespace dlbench::machine
