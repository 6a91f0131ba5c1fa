#include <gmock/gmock.h>

#include "core/file.h"
#include "core/text.h"
#include "frameworks/command.h"
#include "tests/unit/frameworks/fixture.h"

namespace dlbench::frameworks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A user's own Python: the distribution's with a fake package "thing" and a fake numpy's metadata.
class ExistingPython : public FrameworksTest {
 protected:
  void SetUp() override {
    FrameworksTest::SetUp();
    python_ = root_ / "mine" / "python";
    WriteProgram(python_, "#!/bin/sh\nPYTHONPATH=\"" + Site().string() +
                              "\" exec /usr/bin/python3 \"$@\"\n");
    WritePackage("__version__ = '1.2+local'\n");
    WriteMetadata("thing", "1.2");
    WriteMetadata("numpy", "1.24.0");
  }
  std::filesystem::path Site() const { return root_ / "mine" / "site"; }
  void WritePackage(const std::string& text) { Write(Site() / "thing" / "__init__.py", text); }
  void WriteMetadata(const std::string& name, const std::string& version) {
    Write(Site() / (name + "-" + version + ".dist-info") / "METADATA",
          "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n");
  }
  /// What `dlbench frameworks list --probe` says of the only installation.
  std::string ProbedState() {
    const auto rows = List(places_);
    report_ = *Probe(rows->front().manifest, rows->front().installed.at(0));
    return StateOf(rows->front().manifest, report_);
  }

  std::filesystem::path python_;
  ProbeReport report_;
};

TEST_F(ExistingPython, IsUsedAsItIs) {
  const auto added = AddExisting(places_, "fake", python_, "");
  ASSERT_TRUE(added.ok()) << added.error().message();
  EXPECT_EQ(added->id, "fake@mine");
  EXPECT_EQ(added->kind, "existing");
  EXPECT_EQ(added->version, "1.2");
  EXPECT_EQ(added->argv.front(), python_.string());
  EXPECT_EQ(Find(places_, "fake")->id, "fake@mine");
  EXPECT_TRUE(AddExisting(places_, "fake", python_, "old").ok());
  EXPECT_EQ(Find(places_, "fake@old")->id, "fake@old");
  ASSERT_TRUE(InstallFake().ok());
  EXPECT_EQ(Find(places_, "fake")->id, "fake@1.0+cpu") << "the pinned one is what the name means";
  ASSERT_TRUE(Remove(places_, "fake@mine").ok());
  EXPECT_TRUE(std::filesystem::exists(python_)) << "the user's own files are never touched";
}

TEST_F(ExistingPython, IsRefusedWithTheReason) {
  EXPECT_EQ(AddExisting(places_, "fake", root_ / "none", "").error().code(), ErrorCode::kInput);
  EXPECT_EQ(AddExisting(places_, "fake", python_, "../x").error().code(), ErrorCode::kUsage);
  WriteProgram(root_ / "crash", "#!/bin/sh\nkill -SEGV $$\n");
  EXPECT_THAT(AddExisting(places_, "fake", root_ / "crash", "").error().message(),
              HasSubstr("import fails: signal 11"));
  EXPECT_TRUE(List(places_)->front().installed.empty());
}

TEST_F(ExistingPython, C73_AFailingImportIsListedWithTheVersionsAndTheKnownGoodRange) {
  ASSERT_TRUE(AddExisting(places_, "fake", python_, "").ok());
  WritePackage("raise AttributeError(\"module 'numpy' has no attribute 'bool'\")\n");
  EXPECT_EQ(ProbedState(),
            "present, import fails: AttributeError: module 'numpy' has no attribute 'bool' "
            "(thing 1.2, numpy 1.24.0, known good: numpy 1.23)");
  EXPECT_THAT(AddExisting(places_, "fake", python_, "again").error().message(),
              HasSubstr("has no attribute 'bool'"));
}

TEST_F(ExistingPython, C74_AFailingFirstStepIsFoundAndWarningsAreKept) {
  std::string text = Manifest();
  text.replace(text.find("smoke = \"pass\""), 14, "smoke = \"import thing; thing.tensor(1)\"");
  Write(adapter_folder() / "manifest.toml", text);
  const std::string warns = "import sys\nsys.stderr.write('built for NumPy 1\\n')\n";
  WritePackage(warns + "def tensor(x): return x\n");
  const auto added = AddExisting(places_, "fake", python_, "");
  ASSERT_TRUE(added.ok()) << added.error().message();
  EXPECT_THAT(added->details.at("import_warnings"), HasSubstr("built for NumPy 1"));
  EXPECT_EQ(ProbedState(), "ready");

  WritePackage(warns + "def tensor(x): raise RuntimeError('Numpy is not available')\n");
  EXPECT_THAT(
      ProbedState(),
      AllOf(HasSubstr("present, the first step fails: RuntimeError: Numpy is not available"),
            HasSubstr("numpy 1.24.0")));
  EXPECT_THAT(report_.warnings, HasSubstr("built for NumPy 1"));
}

TEST_F(ExistingPython, NoiseOnStdoutDoesNotHideTheReport) {
  WritePackage("print('DLBENCH_PROBE {')\nprint('hello')\n__version__ = '3'\n");
  const auto added = AddExisting(places_, "fake", python_, "");
  ASSERT_TRUE(added.ok()) << added.error().message();
  EXPECT_EQ(added->version, "3");
}

/// Both front ends of the pinned version, where they are installed.
class C40 : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(C40, WeightDecayComesBeforeMomentum) {
  const auto& [name, preset] = GetParam();
  const std::filesystem::path source(DLBENCH_SOURCE_DIR);
  const auto found = Find({source / "adapters", DLBENCH_BINARY_DIR, DataHome()}, name);
  if (!found.ok()) GTEST_SKIP() << found.error().message();
  Command command;
  command.argv = found->argv;
  command.argv.insert(command.argv.end(), {"--optimizer-probe", preset});
  const auto result = RunCommand(command);
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(Trim(result->out), "0.899000 0.807201 0.823775") << result->err;
}

INSTANTIATE_TEST_SUITE_P(FrontEnds, C40,
                         ::testing::Values(std::pair("pytorch", "default"),
                                           std::pair("pytorch", "recommended"),
                                           std::pair("libtorch", "default")),
                         [](const auto& test) {
                           return test.param.first + "_" + test.param.second;
                         });

TEST(C40Names, TheTwoFrontEndsAreTwoFrameworks) {
  const std::filesystem::path adapters = std::filesystem::path(DLBENCH_SOURCE_DIR) / "adapters";
  const auto rows = List({adapters, "/none", "/none"});
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  std::map<std::string, std::string> titles;
  for (const Listed& row : *rows) titles[row.manifest.name] = row.manifest.title;
  EXPECT_EQ(titles.at("pytorch"), "PyTorch");
  EXPECT_EQ(titles.at("libtorch"), "libtorch C++");
}

}  // namespace
}  // namespace dlbench::frameworks
