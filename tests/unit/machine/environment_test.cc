#include "machine/environment.h"

#include <gmock/gmock.h>

namespace dlbench::machine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(C75, RelevantVariablesAreListedAndSecretsAreNot) {
  const auto relevant = RelevantEnvironment(
      {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python", "TF_ENABLE_ONEDNN_OPTS=0",
       "MKL_DEBUG_CPU_TYPE=5", "CUDA_LAUNCH_BLOCKING=1", "LD_PRELOAD=/x.so", "OMP_NUM_THREADS=2",
       "GLIBC_TUNABLES=a=b", "AWS_SECRET_ACCESS_KEY=s", "HOME=/h", "GITHUB_TOKEN=t",
       "NCCL_AUTH_TOKEN=t", "CUDA_API_KEY=k", "PASSWORD=p", "=odd", "NOEQUALS"});
  EXPECT_THAT(relevant, SizeIs(7));
  EXPECT_EQ(relevant.at("GLIBC_TUNABLES"), "a=b");
  EXPECT_EQ(relevant.count("NCCL_AUTH_TOKEN"), 0U);
  EXPECT_EQ(relevant.count("CUDA_API_KEY"), 0U);
}

TEST(C75, VariablesKnownToSlowAreWarnedAbout) {
  const char* const slow[][2] = {{"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python"},
                                 {"TF_ENABLE_ONEDNN_OPTS", "0"},
                                 {"MKL_DEBUG_CPU_TYPE", "5"},
                                 {"CUDA_LAUNCH_BLOCKING", "1"},
                                 {"LD_PRELOAD", "/x.so"}};
  for (const auto& [name, value] : slow) {
    const auto warnings = EnvironmentWarnings({{name, value}}, 4);
    ASSERT_THAT(warnings, SizeIs(1)) << name;
    EXPECT_THAT(warnings[0].text, HasSubstr(name));
    EXPECT_EQ(warnings[0].command, std::string("unset ") + name);
  }
}

TEST(C75, HarmlessValuesAreNot) {
  EXPECT_THAT(EnvironmentWarnings({{"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "upb"},
                                   {"TF_ENABLE_ONEDNN_OPTS", "1"},
                                   {"CUDA_LAUNCH_BLOCKING", "0"},
                                   {"OMP_PROC_BIND", "false"},
                                   {"OMP_NUM_THREADS", "4"},
                                   {"CUDA_VISIBLE_DEVICES", "0"}},
                                  4),
              IsEmpty());
}

TEST(C48, ThreadCountsBeyondTheMachineAreWarnedAbout) {
  EXPECT_THAT(EnvironmentWarnings({{"OMP_NUM_THREADS", "16"}}, 2), SizeIs(1));
  EXPECT_THAT(EnvironmentWarnings({{"OMP_NUM_THREADS", "16,2"}}, 2), SizeIs(1));
  EXPECT_THAT(EnvironmentWarnings({{"OMP_NUM_THREADS", "two"}}, 2), SizeIs(1));
  EXPECT_THAT(EnvironmentWarnings({{"OMP_NUM_THREADS", "2"}}, 2), IsEmpty());
}

TEST(C46, VariablesThatNarrowTheCpuMaskAreWarnedAbout) {
  EXPECT_THAT(EnvironmentWarnings({{"OMP_PROC_BIND", "CLOSE"}}, 2), SizeIs(1));
  EXPECT_THAT(EnvironmentWarnings({{"GOMP_CPU_AFFINITY", "0-1"}}, 2), SizeIs(1));
}

TEST(C68, BadBytesInValuesAreEscapedAndLongOnesCut) {
  const auto relevant = RelevantEnvironment({"OMP_X=\xff", "OMP_Y=" + std::string(5000, 'y')});
  EXPECT_EQ(relevant.at("OMP_X"), "\\xff");
  EXPECT_LE(relevant.at("OMP_Y").size(), 400U);
}

}  // namespace
}  // namespace dlbench::machine
