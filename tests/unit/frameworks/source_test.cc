#include <gmock/gmock.h>

#include "tests/unit/frameworks/fixture.h"

namespace dlbench::frameworks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A framework "native" that is built against "fake", with a compiler that is a shell script.
class SourceTest : public FrameworksTest {
 protected:
  void SetUp() override {
    FrameworksTest::SetUp();
    const std::filesystem::path folder = places_.adapters / "native";
    Write(folder / "adapter.cc", "int main() {}\n");
    Write(folder / "manifest.toml", R"(name = "native"
title = "Native C++"
kind = "source"
language = "c++"
adapter = "adapter.cc"
shares = "fake"
version = "1.0"
[build]
query = "query"
flags = ["-O2"]
[preset.default]
what = "as it comes"
source = "its tutorial"
)");
    // The same fake python answers the trial and the query: its last line is what counts.
    Write(fake() / "probe",
          R"(DLBENCH_PROBE {"ok": true, "version": "1.0+cpu", "failure": "", "packages": {}})"
          "\n"
          R"({"version": "1.0+cpu", "flags": ["-Ishared"], "libraries": ["-lshared"]})");
    WriteProgram(
        root_ / "path" / "fake-c++",
        "#!/bin/sh\n"
        "if [ \"$1\" = --version ]; then echo 'fake-c++ 7.1'; exit 0; fi\n"
        "echo \"$@\" >> \"$FAKE/compiles\"\n"
        "if [ -e \"$FAKE/compile_fails\" ]; then echo 'adapter.cc:1: error' >&2; exit 1; fi\n"
        "while [ \"$1\" != -o ]; do shift; done\n"
        "printf '#!/bin/sh\\necho \"DLBENCH_PROBE {\\\\\"ok\\\\\":true}\"\\n' > \"$2\"\n"
        "chmod +x \"$2\"\n");
    ::setenv("CXX", "fake-c++", 1);
  }
  void TearDown() override {
    ::unsetenv("CXX");
    FrameworksTest::TearDown();
  }
  Result<Installation> InstallNative() {
    lines_.clear();
    return Install(places_, "native", {},
                   [this](const std::string& line) { lines_.push_back(line); });
  }
};

TEST_F(SourceTest, IsBuiltAgainstTheFrameworkThatItShares) {
  const auto made = InstallNative();
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->id, "native@1.0+cpu");
  EXPECT_EQ(made->details.at("compiler"), "fake-c++ 7.1");
  EXPECT_EQ(made->title, "Native C++ 1.0");
  EXPECT_TRUE(Find(places_, "fake").ok()) << "what it is built against comes first";
  EXPECT_THAT(Read(fake() / "compiles"),
              AllOf(HasSubstr("-O2 -I"), HasSubstr("-Ishared"), HasSubstr("-lshared")));
}

TEST_F(SourceTest, AChangedSourceIsNotRunButBuiltAgain) {
  ASSERT_TRUE(InstallNative().ok());
  ASSERT_TRUE(Find(places_, "native").ok());
  Write(places_.adapters / "sdk" / "dlbench_adapter.h", "// another sdk\n");
  EXPECT_THAT(Find(places_, "native").error().message(),
              AllOf(HasSubstr("source has changed"), HasSubstr("frameworks install native")));
  ASSERT_TRUE(InstallNative().ok());
  EXPECT_TRUE(Find(places_, "native").ok());
}

TEST_F(SourceTest, WhatTheAdapterIncludesIsItsSourceToo) {
  Write(places_.adapters / "native" / "layers.h", "// layers\n");
  ASSERT_TRUE(InstallNative().ok());
  Write(places_.adapters / "native" / "README.md", "no source\n");
  EXPECT_TRUE(Find(places_, "native").ok());
  Write(places_.adapters / "native" / "layers.h", "// other layers\n");
  EXPECT_THAT(Find(places_, "native").error().message(), HasSubstr("source has changed"));
}

TEST_F(SourceTest, WhatItUsesIsNotRemovedFirst) {
  ASSERT_TRUE(InstallNative().ok());
  EXPECT_THAT(Remove(places_, "fake").error().message(),
              HasSubstr("native@1.0+cpu uses fake@1.0+cpu"));
  ASSERT_TRUE(Remove(places_, "native").ok());
  EXPECT_TRUE(Remove(places_, "fake").ok());
}

TEST_F(SourceTest, ACompilerErrorIsShown) {
  Write(fake() / "compile_fails", "");
  EXPECT_THAT(InstallNative().error().message(), HasSubstr("adapter.cc:1: error"));
  EXPECT_FALSE(Find(places_, "native").ok());
  ::setenv("CXX", "no-such-compiler", 1);
  EXPECT_THAT(InstallNative().error().message(), HasSubstr("CXX names 'no-such-compiler'"));
}

TEST_F(SourceTest, AUsersOwnPythonServesToo) {
  const auto added = AddExisting(places_, "native", fake() / "python", "lab");
  ASSERT_TRUE(added.ok()) << added.error().message();
  EXPECT_EQ(added->id, "native@lab");
  EXPECT_EQ(added->kind, "existing");
}

}  // namespace
}  // namespace dlbench::frameworks
