#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "tests/unit/frameworks/fixture.h"

namespace dlbench::frameworks {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class InstallTest : public FrameworksTest {
 protected:
  /// pip will wait until the gate is opened.
  void MakePipWait() {
    Write(fake() / "pip_waits", "");
    ASSERT_EQ(::mkfifo((fake() / "gate").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((fake() / "started").c_str(), 0600), 0);
  }
  /// Waits until pip runs; its process id.
  pid_t WaitForPip() {
    pid_t pip = 0;
    std::ifstream(fake() / "started") >> pip;
    return pip;
  }
  /// An install in another process; it never returns there.
  pid_t InstallElsewhere() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(InstallFake().ok() ? 0 : 1);
    return child;
  }
};

TEST_F(InstallTest, MakesAnEnvironmentThatFindReturns) {
  const auto made = InstallFake();
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->id, "fake@1.0+cpu");
  EXPECT_THAT(EnvironmentNames(), ElementsAre("fake@1.0+cpu"));
  const auto found = Find(places_, "fake");
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_THAT(found->argv, ElementsAre((made->folder / "venv/bin/python").string(),
                                       (adapter_folder() / "adapter.py").string()));
  EXPECT_EQ(found->title, "Fake 1.0");
  EXPECT_EQ(found->details.at("numpy"), "2.0");
  EXPECT_THAT(Read(made->folder / "install.log"), HasSubstr("Successfully installed thing"));
  for (const char* name : {"fake@1.0", "fake@1.0+cpu", "fake@1"}) {
    EXPECT_TRUE(Find(places_, name).ok()) << name;
  }
  EXPECT_FALSE(Find(places_, "fake@1.0+c").ok());
}

TEST_F(InstallTest, AsksPipForHashesAndNoSources) {
  ASSERT_TRUE(InstallFake().ok());
  EXPECT_THAT(Read(fake() / "calls"),
              AllOf(HasSubstr("pip install --require-hashes --only-binary :all:"),
                    HasSubstr("lock-cpu.txt")));
}

TEST_F(InstallTest, SaysTheSizeBeforePipStarts) {
  ASSERT_TRUE(InstallFake().ok());
  EXPECT_THAT(lines_, Contains("fake@1.0+cpu: about 1 MB to download, 2 MB on disk"));
  const auto size = std::find_if(lines_.begin(), lines_.end(), [](const std::string& line) {
    return line.find("to download") != std::string::npos;
  });
  const auto pip = std::find(lines_.begin(), lines_.end(), "Downloading thing.whl");
  ASSERT_NE(pip, lines_.end());
  EXPECT_LT(size, pip);
}

TEST_F(InstallTest, ScriptsNameTheInterpreterWhereItEndsUp) {
  const auto made = InstallFake();
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(Read(made->folder / "venv/bin/tool"),
            "#!" + (made->folder / "venv/bin/python").string() + "\n");
}

TEST_F(InstallTest, ASecondInstallDoesNothing) {
  ASSERT_TRUE(InstallFake().ok());
  std::filesystem::remove(fake() / "calls");
  const auto again = InstallFake();
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(lines_, ElementsAre("fake@1.0+cpu is installed already"));
  EXPECT_FALSE(std::filesystem::exists(fake() / "calls"));
}

TEST_F(InstallTest, AFailingPipLeavesNothingButTheLog) {
  Write(fake() / "pip_fails", "");
  const auto result = InstallFake();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kFailed);
  EXPECT_THAT(result.error().message(),
              AllOf(HasSubstr("pip install: exit status 1"), HasSubstr("ERROR: hashes differ"),
                    HasSubstr(".failed-fake.log")));
  EXPECT_THAT(EnvironmentNames(), ElementsAre(".failed-fake.log"));
  EXPECT_THAT(Read(environments() / ".failed-fake.log"), HasSubstr("ERROR: hashes differ"));
  EXPECT_EQ(Find(places_, "fake").error().code(), ErrorCode::kUnsupported);
  std::filesystem::remove(fake() / "pip_fails");
  EXPECT_TRUE(InstallFake().ok());
  EXPECT_THAT(EnvironmentNames(), ElementsAre("fake@1.0+cpu"));
}

TEST_F(InstallTest, AnEnvironmentThatDoesNotWorkIsNotKept) {
  Write(fake() / "probe",
        R"(DLBENCH_PROBE {"ok": false, "version": "1.0", "failure": "import fails: E: x"})");
  const auto result = InstallFake();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message(), HasSubstr("import fails: E: x"));
  EXPECT_THAT(EnvironmentNames(), Not(Contains("fake@1.0+cpu")));
}

TEST_F(InstallTest, AsksBeforeALargeDownload) {
  Write(fake() / "versions", "Available versions: 1.1, 1.0\n");
  const auto refused = InstallFake();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::kUsage);
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("3.0 GB"), HasSubstr("--yes")));
  EXPECT_THAT(Read(fake() / "calls"), Not(HasSubstr("pip install")));
  const auto made = InstallFake({true, ""});
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->id, "fake@1.0+big");
  EXPECT_THAT(Read(fake() / "calls"), HasSubstr("lock-big.txt"));
}

TEST_F(InstallTest, SaysWhatPipDoesNotOffer) {
  Write(fake() / "versions", "Available versions: 1.1\n");
  EXPECT_EQ(InstallFake().error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(InstallFake({true, "cpu"}).error().message(), HasSubstr("thing==1.0+cpu"));
  EXPECT_THAT(InstallFake({true, "gpu"}).error().message(), HasSubstr("it has: cpu, big"));
}

TEST_F(InstallTest, RefusesADiskThatIsTooSmall) {
  std::string text = Manifest();
  text.replace(text.find("disk_mb = 2"), 11, "disk_mb = 2000000000");
  Write(adapter_folder() / "manifest.toml", text);
  EXPECT_THAT(InstallFake().error().message(), HasSubstr("are free in"));
}

TEST_F(InstallTest, NamesThePackageOfAMissingPython) {
  WriteProgram(root_ / "path" / "python3.11", "#!/bin/sh\nprintf '3.9 x'\n");
  std::string text = Manifest();
  text.replace(text.find("[\"python3.11\"]"), 14, "[\"python3.fake\"]");
  Write(adapter_folder() / "manifest.toml", text);
  WriteProgram(root_ / "path" / "python3.fake", "#!/bin/sh\nprintf '3.9 x'\n");
  EXPECT_THAT(InstallFake().error().message(),
              AllOf(HasSubstr("python3.fake is Python 3.9"),
                    HasSubstr("run: apt-get install python3.11 python3.11-venv")));
  WriteProgram(root_ / "path" / "python3.fake",
               "#!/bin/sh\necho \"No module named 'ensurepip'\" >&2\nexit 1\n");
  EXPECT_THAT(InstallFake().error().message(), HasSubstr("No module named 'ensurepip'"));
}

TEST_F(InstallTest, TwoInstallsAtOnceAreKeptApart) {
  MakePipWait();
  const pid_t first = InstallElsewhere();
  WaitForPip();
  const auto second = InstallFake();
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message(),
              AllOf(HasSubstr("dlbench (process " + std::to_string(first)), HasSubstr("wait")));
  EXPECT_FALSE(Remove(places_, "fake").ok());
  std::ofstream(fake() / "gate") << "go\n";
  int status = 0;
  ASSERT_EQ(::waitpid(first, &status, 0), first);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(EnvironmentNames(), ElementsAre("fake@1.0+cpu"));
}

TEST_F(InstallTest, AKillInTheMiddleLeavesNothingThatIsUsed) {
  MakePipWait();
  const pid_t child = InstallElsewhere();
  const pid_t pip = WaitForPip();
  ASSERT_GT(pip, 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(EnvironmentNames(), ElementsAre(".partial-fake"));
  EXPECT_FALSE(Find(places_, "fake").ok());
  EXPECT_EQ(List(places_)->front().state, "not installed");
  // pip dies with its parent (PR_SET_PDEATHSIG); until then it holds the lock, and the install is
  // refused rather than mixed with it.
  std::filesystem::remove(fake() / "pip_waits");
  auto made = InstallFake();
  for (int i = 0; i < 100'000 && !made.ok(); ++i) {
    ASSERT_THAT(made.error().message(), HasSubstr("wait until it has ended"));
    std::this_thread::yield();
    made = InstallFake();
  }
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_THAT(lines_.at(0), HasSubstr("removing what an interrupted install left"));
  EXPECT_THAT(EnvironmentNames(), ElementsAre("fake@1.0+cpu"));
}

TEST_F(InstallTest, RemoveFreesTheSpace) {
  ASSERT_TRUE(InstallFake().ok());
  const auto freed = Remove(places_, "fake");
  ASSERT_TRUE(freed.ok());
  EXPECT_GT(*freed, 0U);
  EXPECT_THAT(EnvironmentNames(), IsEmpty());
  EXPECT_FALSE(Remove(places_, "fake@1.0").ok());
  EXPECT_EQ(Remove(places_, "../etc").error().code(), ErrorCode::kNotFound);
}

TEST_F(InstallTest, UnknownNamesSuggestTheNearest) {
  const auto unknown = Find(places_, "fakee");
  EXPECT_EQ(unknown.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message(), HasSubstr("did you mean 'fake'?"));
  EXPECT_THAT(Find(places_, "fake").error().message(),
              HasSubstr("run: dlbench frameworks install fake"));
}

TEST_F(InstallTest, ADamagedRecordIsBrokenNotFatal) {
  const auto made = InstallFake();
  Write(made->folder / "installation.json", "{\"name\": 3");
  EXPECT_THAT(List(places_)->front().state, HasSubstr("broken:"));
  EXPECT_THAT(Find(places_, "fake").error().message(), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace dlbench::frameworks
