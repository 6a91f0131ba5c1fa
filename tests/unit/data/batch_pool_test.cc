#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/dataset.h"
#include "data/safetensors.h"
#include "temporary_folder.h"

namespace dlbench::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

network::Network TwoInputs(double scale = 1.0, double offset = 0.0) {
  network::Network network;
  network.name = "two";
  network.input.shape = {2};
  network.input.scale = scale;
  network.input.offset = offset;
  network.classes = 10;
  return network;
}

// Sample i has the pixels {i, 100} and the label i mod 10.
Dataset Numbered(std::int64_t samples) {
  Dataset dataset;
  dataset.name = "numbered";
  dataset.samples = samples;
  dataset.sample_shape = {2};
  dataset.classes = 10;
  for (std::int64_t i = 0; i < samples; ++i) {
    dataset.pixels.push_back(static_cast<std::uint8_t>(i));
    dataset.pixels.push_back(100);
    dataset.labels.push_back(static_cast<std::int32_t>(i % 10));
  }
  return dataset;
}

BatchPool Pool(const Dataset& dataset, std::int64_t batch, std::uint64_t seed = 1) {
  auto pool = MakeBatchPool(dataset, TwoInputs(), batch, seed);
  EXPECT_TRUE(pool.ok()) << pool.error().message();
  return std::move(pool).value();
}

// The samples of the pool, in order.
std::vector<int> SamplesOf(const BatchPool& pool) {
  std::vector<int> samples;
  for (std::size_t i = 0; i < pool.x.size(); i += 2) samples.push_back(static_cast<int>(pool.x[i]));
  return samples;
}

TEST(BatchPool, HoldsEightDifferentBatchesOfAPermutation) {
  const BatchPool pool = Pool(Numbered(200), 16);
  EXPECT_EQ(pool.count, 8);
  EXPECT_EQ(pool.batch, 16);
  const auto samples = SamplesOf(pool);
  ASSERT_EQ(samples.size(), 128U);
  EXPECT_EQ(std::set<int>(samples.begin(), samples.end()).size(), 128U);
  for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(pool.labels[i], samples[i] % 10);
}

TEST(BatchPool, OrderIsAFunctionOfTheSeedAlone) {
  const auto samples = SamplesOf(Pool(Numbered(200), 16));
  EXPECT_EQ(SamplesOf(Pool(Numbered(200), 16)), samples);
  EXPECT_NE(SamplesOf(Pool(Numbered(200), 16, 2)), samples);
  const auto small = SamplesOf(Pool(Numbered(200), 4));
  EXPECT_TRUE(std::equal(small.begin(), small.end(), samples.begin()));
  EXPECT_EQ(Pool(Numbered(200), 16).content_hash, Pool(Numbered(200), 16).content_hash);
  EXPECT_NE(Pool(Numbered(200), 16, 2).content_hash, Pool(Numbered(200), 16).content_hash);
}

TEST(BatchPool, ScalesInFloat32) {
  const auto pool = MakeBatchPool(Numbered(20), TwoInputs(1.0 / 255, 33.0), 2, 1);
  EXPECT_EQ(pool->x[1], static_cast<float>(1.0 / 255) * 67.0F);
}

TEST(BatchPool, ReshufflesWhenTheDataEnd) {
  const BatchPool pool = Pool(Numbered(30), 20);
  EXPECT_EQ(pool.count, 8);
  const auto samples = SamplesOf(pool);
  std::set<std::vector<int>> batches;
  for (auto at = samples.begin(); at != samples.end(); at += 20) {
    EXPECT_EQ(std::set<int>(at, at + 20).size(), 20U);  // no sample twice in a batch
    batches.insert({at, at + 20});
  }
  EXPECT_EQ(batches.size(), 8U);
}

TEST(BatchPool, OfTinyDataHasFewerBatches) {
  EXPECT_EQ(Pool(Numbered(2), 2).count, 2);  // only two orders exist
  EXPECT_EQ(Pool(Numbered(3), 1).count, 3);
  const auto one = MakeBatchPool(Numbered(1), TwoInputs(), 1, 1);
  ASSERT_FALSE(one.ok());
  EXPECT_THAT(one.error().message(), HasSubstr("no two different batches"));
}

TEST(BatchPool, EqualContentCountsAsTheSameBatch) {
  Dataset dataset = Numbered(50);
  std::fill(dataset.pixels.begin(), dataset.pixels.end(), std::uint8_t{5});
  std::fill(dataset.labels.begin(), dataset.labels.end(), 3);
  EXPECT_FALSE(MakeBatchPool(dataset, TwoInputs(), 10, 1).ok());
}

TEST(BatchPool, BatchesThatCannotBeAreRefused) {
  const auto large = MakeBatchPool(Numbered(30), TwoInputs(), 31, 1);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code(), ErrorCode::kInput);
  EXPECT_THAT(large.error().message(), AllOf(HasSubstr("31"), HasSubstr("30 samples")));
  EXPECT_FALSE(MakeBatchPool(Numbered(30), TwoInputs(), 0, 1).ok());
  auto network = TwoInputs();
  network.input.shape = {3};
  EXPECT_FALSE(MakeBatchPool(Numbered(30), network, 2, 1).ok());
}

TEST(BatchPool, StaysBelow256MegabytesWithAtLeastTwoBatches) {
  network::Network network = TwoInputs();
  network.input.shape = {784};
  EXPECT_EQ(WantedBatches(network, 1), 8);
  EXPECT_EQ(WantedBatches(network, 8192), 8);
  network.input.shape = {3, 224, 224};
  EXPECT_EQ(WantedBatches(network, 32), 8);
  EXPECT_EQ(WantedBatches(network, 64), 6);  // 38.5 MB each
  EXPECT_EQ(WantedBatches(network, 1024), 2);
}

class BatchPoolFileTest : public TemporaryFolderTest {};

TEST_F(BatchPoolFileTest, HoldsValuesAndLabelsInTheNetworksShape) {
  auto network = TwoInputs();
  network.input.shape = {1, 2};
  const auto pool = MakeBatchPool(Numbered(200), network, 16, 1);
  ASSERT_TRUE(pool.ok());
  ASSERT_TRUE(WriteBatchPool(*pool, network, folder_ / "pool.safetensors").ok());
  const auto file = SafetensorsFile::Open(folder_ / "pool.safetensors");
  ASSERT_TRUE(file.ok()) << file.error().message();
  const TensorView* x = file->Find("x");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->shape, (std::vector<std::int64_t>{8, 16, 1, 2}));
  EXPECT_TRUE(std::equal(pool->x.begin(), pool->x.end(), x->f32().begin(), x->f32().end()));
  const TensorView* labels = file->Find("labels");
  ASSERT_NE(labels, nullptr);
  EXPECT_EQ(labels->shape, (std::vector<std::int64_t>{8, 16}));
  EXPECT_TRUE(std::equal(pool->labels.begin(), pool->labels.end(), labels->i32().begin(),
                         labels->i32().end()));
  EXPECT_EQ(file->metadata().at("content_hash"), pool->content_hash);
}

TEST(BatchPool, HoldsAMaskForEachDropoutNode) {
  network::Network network = TwoInputs();
  for (const char* name : {"drop1", "drop2"}) {
    network::Node node;
    node.name = name;
    node.op = "dropout";
    node.attributes["probability"] = 0.25;
    node.output_shape = {1000};
    network.nodes.push_back(node);
  }
  const auto pool = MakeBatchPool(Numbered(200), network, 4, 1);
  ASSERT_TRUE(pool.ok()) << pool.error().message();
  ASSERT_EQ(pool->masks.size(), 2U);
  const auto& mask = pool->masks.at("drop1");
  ASSERT_EQ(mask.size(), static_cast<std::size_t>(pool->count * 4 * 1000));
  const auto kept = std::count(mask.begin(), mask.end(), 1);
  EXPECT_EQ(kept + std::count(mask.begin(), mask.end(), 0), static_cast<long>(mask.size()));
  EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(mask.size()), 0.75, 0.02);
  EXPECT_NE(mask, pool->masks.at("drop2"));
  EXPECT_NE(pool->content_hash, Pool(Numbered(200), 4).content_hash);
}

}  // namespace
}  // namespace dlbench::data
