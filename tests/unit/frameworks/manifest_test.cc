#include <gmock/gmock.h>

#include "tests/unit/frameworks/fixture.h"

namespace dlbench::frameworks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ManifestTest : public FrameworksTest {
 protected:
  /// The error of the fake manifest with `from` replaced by `to`.
  std::string ErrorWith(const std::string& from, const std::string& to) {
    std::string text = Manifest();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    Write(adapter_folder() / "manifest.toml", text);
    const auto result = LoadManifests(places_);
    return result.ok() ? "" : result.error().message();
  }
};

TEST_F(ManifestTest, ReadsEveryField) {
  const auto manifests = LoadManifests(places_);
  ASSERT_TRUE(manifests.ok()) << manifests.error().message();
  ASSERT_EQ(manifests->size(), 1U);
  const auto& manifest = manifests->front();
  EXPECT_EQ(manifest.title, "Fake");
  EXPECT_THAT(manifest.presets, ElementsAre("default", "recommended"));
  EXPECT_EQ(manifest.preset_notes.at("default").at("source"), "its tutorial");
  ASSERT_EQ(manifest.variants.size(), 2U);
  EXPECT_EQ(manifest.variants[1].download_mb, 3000U);
  EXPECT_TRUE(manifest.variants[1].ask);
  EXPECT_EQ(manifest.probe.module, "thing");
}

TEST_F(ManifestTest, NamesTheFileAndLineOfWhatIsWrong) {
  EXPECT_THAT(ErrorWith("title =", "titel ="), HasSubstr("manifest.toml:1: 'title' is missing"));
  EXPECT_THAT(ErrorWith("kind = \"venv\"", "kind = \"vemv\""),
              HasSubstr("manifest.toml:3: unknown kind 'vemv'; did you mean 'venv'?"));
  EXPECT_THAT(ErrorWith("ask = true", "ask = 1"),
              HasSubstr("manifest.toml:21: [[variant]]: 'ask' must be true or false"));
  EXPECT_THAT(ErrorWith("lock-cpu.txt", "lock-gpu.txt"),
              HasSubstr("manifest.toml:11: [[variant]]: there is no lock file 'lock-gpu.txt'"));
  EXPECT_THAT(ErrorWith("disk_mb = 2", "disk_mb = -2"), HasSubstr("manifest.toml:14:"));
  EXPECT_THAT(ErrorWith("smoke =", "smok ="), HasSubstr("unknown key 'smok'"));
  EXPECT_THAT(ErrorWith("name = \"fake\"", "name = \"other\""), HasSubstr("they must agree"));
  EXPECT_THAT(ErrorWith("name = \"fake\"", "name = "), HasSubstr("manifest.toml:1:"));
  EXPECT_THAT(ErrorWith("adapter.py", "nowhere.py"),
              HasSubstr("manifest.toml:5: there is no adapter"));
  EXPECT_THAT(ErrorWith("[preset.default]", "[[preset.default]]"), HasSubstr("must be a table"));
}

TEST_F(ManifestTest, ReadsThoseThatShip) {
  const auto manifests = LoadManifests({std::filesystem::path(DLBENCH_SOURCE_DIR) / "adapters",
                                        places_.binaries, places_.data_home});
  ASSERT_TRUE(manifests.ok()) << manifests.error().message();
  EXPECT_GE(manifests->size(), 2U);
}

TEST_F(ManifestTest, FillsThePlaceholdersOfALaunch) {
  Installation installation;
  installation.id = "fake@1.0+cpu";
  const auto manifests = LoadManifests(places_);
  installation.environment = manifests->front().environment;
  installation.preset_environment = manifests->front().preset_environment;
  const auto plain = LaunchEnvironment(installation, "default", 3, "/c");
  EXPECT_EQ(plain.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(plain.at("CACHE"), "/c/frameworks/fake@1.0+cpu/x");
  EXPECT_EQ(plain.count("TUNED"), 0U);
  const auto tuned = LaunchEnvironment(installation, "recommended", 3, "/c");
  EXPECT_EQ(tuned.at("TUNED"), "yes");
  EXPECT_EQ(tuned.count("OMP_NUM_THREADS"), 0U);
}

}  // namespace
}  // namespace dlbench::frameworks
