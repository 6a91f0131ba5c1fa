#include "machine/doctor.h"

#include <gmock/gmock.h>

#include <map>

#include "fake_root.h"

namespace dlbench::machine {
namespace {

using ::testing::HasSubstr;
using Severity = Finding::Severity;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

class FakeProbe final : public SystemProbe {
 public:
  std::map<std::string, std::string> outputs;  ///< By program.
  std::optional<std::uint64_t> free_bytes = 100 * kGiB;

 private:
  std::optional<std::string> DoOutput(const std::vector<std::string>& command) const override {
    const auto found = outputs.find(command[0]);
    return found == outputs.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::uint64_t> DoFreeBytes(const std::filesystem::path&) const override {
    return free_bytes;
  }
};

class Doctor : public ::testing::Test {
 protected:
  void SetUp() override {
    probe_.outputs = {{"g++", "12.2.0\n"}, {"python3", "3.11.2\nTrue\nTrue\n"}};
    root_.Write("usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz", "x");
  }
  std::vector<Finding> Findings() {
    return DiagnoseWith(machine_, root_.path(), probe_, {"data", "cache", "results"});
  }
  /// The one finding that is not fine; fails the test where there is another number of them.
  Finding OnlyComplaint() {
    std::vector<Finding> complaints;
    for (Finding& finding : Findings()) {
      if (finding.severity != Severity::kOk) complaints.push_back(std::move(finding));
    }
    EXPECT_EQ(complaints.size(), 1U);
    return complaints.empty() ? Finding{} : complaints[0];
  }
  FakeRoot root_;
  FakeProbe probe_;
  Machine machine_;
};

TEST_F(Doctor, HealthyMachineHasNoComplaint) {
  for (const Finding& finding : Findings()) {
    EXPECT_EQ(finding.severity, Severity::kOk) << finding.what;
    EXPECT_TRUE(finding.command.empty()) << finding.what;
  }
}

TEST_F(Doctor, MissingCompilerNamesItsPackage) {
  probe_.outputs.erase("g++");
  const Finding finding = OnlyComplaint();
  EXPECT_EQ(finding.severity, Severity::kProblem);
  EXPECT_EQ(finding.command, "sudo apt-get install --no-install-recommends g++");
}

TEST_F(Doctor, OldCompilerIsAProblem) {
  probe_.outputs["g++"] = "9.4.0\n";
  EXPECT_THAT(OnlyComplaint().what, HasSubstr("9.4.0 is too old"));
}

TEST_F(Doctor, PythonPartsAreToldApart) {
  probe_.outputs["python3"] = "3.11.2\nFalse\nTrue\n";
  EXPECT_THAT(OnlyComplaint().command, HasSubstr("python3-venv"));
  probe_.outputs["python3"] = "3.11.2\nTrue\nFalse\n";
  EXPECT_THAT(OnlyComplaint().command, HasSubstr("python3-dev"));
  probe_.outputs["python3"] = "3.9.7\nTrue\nTrue\n";
  EXPECT_THAT(OnlyComplaint().what, HasSubstr("3.9.7"));
  probe_.outputs["python3"] = "strange";
  EXPECT_EQ(OnlyComplaint().severity, Severity::kWarning);
  probe_.outputs.erase("python3");
  EXPECT_THAT(OnlyComplaint().command, HasSubstr("python3 python3-venv python3-dev"));
}

TEST_F(Doctor, MissingDataNamesItsPackage) {
  std::filesystem::remove_all(root_.path() / "usr");
  EXPECT_THAT(OnlyComplaint().command, HasSubstr("dataset-fashion-mnist"));
}

TEST_F(Doctor, LittleSpaceIsAWarningAndLessAProblem) {
  probe_.free_bytes = 3 * kGiB;
  EXPECT_EQ(OnlyComplaint().severity, Severity::kWarning);
  probe_.free_bytes = kGiB / 100;
  int problems = 0;
  for (const Finding& finding : Findings()) problems += finding.severity == Severity::kProblem;
  EXPECT_EQ(problems, 3);
}

TEST_F(Doctor, SettingsThatSlowThingsAreWarnedAboutWithTheirCure) {
  machine_.relevant_environment = {{"CUDA_LAUNCH_BLOCKING", "1"}};
  EXPECT_EQ(OnlyComplaint().command, "unset CUDA_LAUNCH_BLOCKING");
}

TEST_F(Doctor, GovernorIsWarnedAboutWithItsCure) {
  machine_.governor = "powersave";
  EXPECT_THAT(OnlyComplaint().command, HasSubstr("scaling_governor"));
}

TEST_F(Doctor, VirtualMachineIsSaidAndIsNoProblem) {
  machine_.virtualization = "kvm";
  machine_.unavailable = {"energy counters (no powercap)"};
  bool said = false;
  for (const Finding& finding : Findings()) {
    EXPECT_EQ(finding.severity, Severity::kOk);
    said |= finding.what.find("virtual machine (kvm); not available: energy") != std::string::npos;
  }
  EXPECT_TRUE(said);
}

TEST_F(Doctor, RealMachineIsDiagnosed) { EXPECT_GE(Diagnose(Detect()).size(), 5U); }

}  // namespace
}  // namespace dlbench::machine
