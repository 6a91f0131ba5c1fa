#include "data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "data/synthetic.h"
#include "idx_fixture.h"
#include "temporary_folder.h"

namespace dlbench::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

network::Network TinyNetwork(network::Shape shape = {4}, std::int64_t classes = 10) {
  network::Network network;
  network.name = "tiny";
  network.input.shape = std::move(shape);
  network.input.dataset = "mnist";
  network.classes = classes;
  return network;
}

class FolderTest : public TemporaryFolderTest {
 protected:
  Result<Dataset> Load() const { return LoadIdxFolder(folder_, "MNIST (user)"); }
  std::string ErrorOfLoad() const {
    const auto dataset = Load();
    return dataset.ok() ? "" : dataset.error().message();
  }
};
class C61 : public FolderTest {};

TEST_F(C61, EverySpellingLoads) {
  for (const char* suffix : {"", ".gz"}) {
    for (const char* dot : {"-", "."}) {
      const auto images = Put(std::string("train-images") + dot + "idx3-ubyte" + suffix,
                              *suffix == '\0' ? TinyImages() : Gzip(TinyImages()));
      const auto labels =
          Put(std::string("train-labels") + dot + "idx1-ubyte" + suffix, TinyLabels());
      const auto dataset = Load();
      ASSERT_TRUE(dataset.ok()) << dataset.error().message();
      EXPECT_EQ(dataset->samples, 3);
      EXPECT_EQ(dataset->classes, 10);
      EXPECT_EQ(dataset->name, "MNIST (user)");
      EXPECT_FALSE(dataset->synthetic);
      std::filesystem::remove(images);
      std::filesystem::remove(labels);
    }
  }
}

TEST_F(C61, TwoSpellingsWithDifferentContentsAreAmbiguous) {
  Put(kLabels, TinyLabels());
  Put(kImages, TinyImages());
  Put("train-images.idx3-ubyte", TinyImages(50));
  EXPECT_THAT(ErrorOfLoad(), AllOf(HasSubstr("ambiguous"), HasSubstr("train-images-idx3-ubyte'"),
                                   HasSubstr("train-images.idx3-ubyte'")));
}

TEST_F(C61, TwoSpellingsOfTheSameContentLoad) {
  Put(kLabels, TinyLabels());
  Put(kImages, TinyImages());
  Put("train-images-idx3-ubyte.gz", Gzip(TinyImages()));
  EXPECT_EQ(ErrorOfLoad(), "");
}

TEST_F(C61, MissingFilesListAllNamesTried) {
  EXPECT_THAT(
      ErrorOfLoad(),
      AllOf(HasSubstr("train-images-idx3-ubyte,"), HasSubstr("train-images-idx3-ubyte.gz"),
            HasSubstr("train-images.idx3-ubyte,"), HasSubstr("train-images.idx3-ubyte.gz")));
  Put(kImages, TinyImages());
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("train-labels.idx1-ubyte.gz"));
  EXPECT_EQ(Load().error().code(), ErrorCode::kNotFound);
}

TEST_F(FolderTest, CountsThatDisagreeAreRefused) {
  Put(kImages, TinyImages());
  Put(kLabels, TinyLabels({1, 2}));
  EXPECT_THAT(ErrorOfLoad(),
              AllOf(HasSubstr("counts disagree"), HasSubstr("3 images"), HasSubstr("2 labels")));
}

TEST_F(FolderTest, LabelOutOfRangeIsNamedWithItsSample) {
  Put(kImages, TinyImages());
  Put(kLabels, TinyLabels({1, 10, 2}));
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("label 10 of sample 1 is out of range"));
  Put(kLabels, TinyLabels({1, 255, 2}));
  EXPECT_THAT(ErrorOfLoad(), HasSubstr("label 255"));
}

TEST_F(FolderTest, HashDependsOnPixelsAndLabels) {
  Put(kImages, TinyImages());
  Put(kLabels, TinyLabels());
  const std::string hash = Load()->content_hash;
  EXPECT_EQ(hash.size(), 64U);
  Put(kImages, Gzip(TinyImages()));
  EXPECT_EQ(Load()->content_hash, hash);
  Put(kLabels, TinyLabels({7, 0, 8}));
  EXPECT_NE(Load()->content_hash, hash);
}

TEST_F(FolderTest, FolderWhoseNameIsNotUtf8Opens) {
  const auto odd = folder_ / "\xE9";
  std::filesystem::create_directories(odd);
  Put("\xE9/train-images-idx3-ubyte", TinyImages());
  Put("\xE9/train-labels-idx1-ubyte", TinyLabels());
  const auto dataset = LoadDataset({"mnist", odd, 1}, TinyNetwork());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message();
  EXPECT_EQ(dataset->source, odd.string());
}

TEST_F(FolderTest, UsersFolderComesBeforeTheDistributions) {
  Put(kImages, TinyImages());
  Put(kLabels, TinyLabels());
  const auto user = LoadDataset({"", folder_, 1}, TinyNetwork(), {"/nonexistent", "/nonexistent"});
  ASSERT_TRUE(user.ok()) << user.error().message();
  EXPECT_EQ(user->name, "MNIST (user)");
  const auto packaged = LoadDataset({}, TinyNetwork(), {folder_, "/nonexistent"});
  ASSERT_TRUE(packaged.ok()) << packaged.error().message();
  EXPECT_EQ(packaged->name, "Fashion-MNIST");
}

TEST_F(FolderTest, DataThatDoNotFitTheNetworkAreRefused) {
  Put(kImages, TinyImages());
  Put(kLabels, TinyLabels());
  const auto shape = LoadDataset({"mnist", folder_, 1}, TinyNetwork({5}));
  ASSERT_FALSE(shape.ok());
  EXPECT_THAT(shape.error().message(), AllOf(HasSubstr("[2, 2]"), HasSubstr("[5]")));
  const auto classes = LoadDataset({"mnist", folder_, 1}, TinyNetwork({4}, 7));
  ASSERT_FALSE(classes.ok());
  EXPECT_THAT(classes.error().message(), HasSubstr("the classes are 0 to 6"));
}

TEST(LoadDataset, NothingInstalledNamesThePackageAndTheAlternative) {
  const auto dataset = LoadDataset({}, TinyNetwork(), {"/nonexistent", "/nonexistent"});
  ASSERT_FALSE(dataset.ok());
  EXPECT_THAT(dataset.error().message(), AllOf(HasSubstr("apt-get install dataset-fashion-mnist"),
                                               HasSubstr("--data synthetic")));
}

TEST(LoadDataset, UnknownKindsAndFoldersOfSyntheticDataAreRefused) {
  EXPECT_THAT(LoadDataset({"mnits", {}, 1}, TinyNetwork()).error().message(), HasSubstr("mnist"));
  EXPECT_THAT(LoadDataset({"synthetic", "/x", 1}, TinyNetwork()).error().message(),
              HasSubstr("no folder"));
  EXPECT_FALSE(LoadDataset({"mnist", "/nonexistent", 1}, TinyNetwork()).ok());
}

TEST(LoadDataset, InstalledFashionMnistIsComplete) {
  if (!std::filesystem::exists(DebianFashionMnistFolder())) {
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  const auto dataset = LoadDataset({}, TinyNetwork({784}));
  ASSERT_TRUE(dataset.ok()) << dataset.error().message();
  EXPECT_EQ(dataset->samples, 60000);
  EXPECT_EQ(dataset->sample_shape, (network::Shape{28, 28}));
  EXPECT_EQ(dataset->pixels.size(), 47040000U);
}

Dataset Synthetic(std::uint64_t seed) {
  return *LoadDataset({"synthetic", {}, seed}, TinyNetwork({28, 28}));
}

std::vector<std::uint8_t> SampleOf(const Dataset& dataset, std::int64_t index) {
  std::vector<std::uint8_t> sample(784);
  SyntheticSample(dataset, index, sample);
  return sample;
}

TEST(Synthetic, SaysThatItIsAndHasTheNetworksShape) {
  const Dataset dataset = Synthetic(1);
  EXPECT_TRUE(dataset.synthetic);
  EXPECT_EQ(dataset.name, "synthetic");
  EXPECT_EQ(dataset.sample_shape, (network::Shape{28, 28}));
  EXPECT_EQ(dataset.labels.size(), 60000U);
  EXPECT_EQ(std::set<std::int32_t>(dataset.labels.begin(), dataset.labels.end()).size(), 10U);
}

TEST(Synthetic, IsAFunctionOfSeedAndIndex) {
  EXPECT_EQ(SampleOf(Synthetic(1), 7), SampleOf(Synthetic(1), 7));
  EXPECT_NE(SampleOf(Synthetic(1), 7), SampleOf(Synthetic(2), 7));
  EXPECT_NE(SampleOf(Synthetic(1), 7), SampleOf(Synthetic(1), 8));
  EXPECT_EQ(Synthetic(1).content_hash, Synthetic(1).content_hash);
  EXPECT_NE(Synthetic(1).content_hash, Synthetic(2).content_hash);
}

// Squared distances: 2 * 784 * 192^2/12 = 4.8e6 within a class, 784 * 64^2/6 = 5.4e5 more between
// two.
TEST(Synthetic, SamplesOfAClassLieNearerThanThoseOfTwo) {
  const Dataset dataset = Synthetic(1);
  double same = 0;
  double other = 0;
  int same_count = 0;
  int other_count = 0;
  for (std::int64_t i = 1; i < 400; ++i) {
    const auto a = SampleOf(dataset, i - 1);
    const auto b = SampleOf(dataset, i);
    double distance = 0;
    for (std::size_t j = 0; j < a.size(); ++j) distance += (a[j] - b[j]) * (a[j] - b[j]);
    const auto at = static_cast<std::size_t>(i);
    const bool equal = dataset.labels[at] == dataset.labels[at - 1];
    (equal ? same : other) += distance;
    ++(equal ? same_count : other_count);
  }
  ASSERT_GT(same_count, 10);
  EXPECT_GT(other / other_count - same / same_count, 3e5);
}

}  // namespace
}  // namespace dlbench::data
