#include "data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "idx_fixture.h"
#include "temporary_folder.h"

namespace dlbench::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

network::Network WordNetwork(std::int64_t length = 4, std::int64_t vocabulary = 50) {
  network::Network network;
  network.name = "words";
  network.input.kind = network::Input::Kind::kTokens;
  network.input.shape = {length};
  network.input.vocabulary = vocabulary;
  network.input.dataset = "text";
  network.classes = vocabulary;
  network::Node logits;
  logits.name = "logits";
  logits.op = "dense";
  logits.output_shape = {length, vocabulary};
  network.nodes.push_back(logits);
  network.loss.input = "logits";
  return network;
}

TEST(Corpus, FrequentWordsGetTheFirstIdsAndTiesTheOrderOfTheirBytes) {
  const auto corpus = MakeCorpus("the cat\n\n  the dog sat\r\nthe dog\n", 100);
  ASSERT_TRUE(corpus.ok()) << corpus.error().message();
  EXPECT_THAT(corpus->words, ElementsAre("<eos>", "<unk>", "the", "dog", "cat", "sat"));
  EXPECT_THAT(corpus->tokens, ElementsAre(2, 4, 0, 2, 3, 5, 0, 2, 3, 0));
}

TEST(Corpus, RareWordsBecomeUnknown) {
  const auto corpus = MakeCorpus("a a a b b c <unk>", 4);
  ASSERT_TRUE(corpus.ok());
  EXPECT_THAT(corpus->words, ElementsAre("<eos>", "<unk>", "a", "b"));
  EXPECT_THAT(corpus->tokens, ElementsAre(2, 2, 2, 3, 3, 1, 1, 0));
}

TEST(Corpus, WhatIsNoTextIsNamedWithItsLine) {
  EXPECT_THAT(MakeCorpus(std::string("a\nb\0c\n", 6), 10).error().message(),
              HasSubstr("line 2 holds a zero byte"));
  EXPECT_THAT(MakeCorpus(std::string("a\n\n") + std::string(1001, 'x'), 10).error().message(),
              HasSubstr("line 3 has a word of 1001 bytes"));
  EXPECT_THAT(MakeCorpus(" \n ", 10).error().message(), HasSubstr("no words"));
  EXPECT_THAT(MakeCorpus("a", 2).error().message(), HasSubstr("no room for words"));
}

TEST(Corpus, VersesLoseTheirReferencesAndKeepTheirMarks) {
  EXPECT_EQ(PlainVerses("Gen1:1 In the beginning God\n    created (it).\nGen1:2 And\n"),
            "in the beginning god created ( it ) .\nand\n");
  EXPECT_EQ(PlainVerses("1Jn1:1 That\n  2 which 1:3 was"), "that\nwhich\nwas\n");
}

TEST(SyntheticTokens, AreLearnableAndAsSkewedAsWords) {
  const auto network = WordNetwork(4, 10000);
  const Dataset dataset = MakeSyntheticTokens(network, 3);
  EXPECT_TRUE(dataset.synthetic);
  ASSERT_EQ(dataset.tokens.size(), 1'000'000U);
  const auto [least, most] = std::minmax_element(dataset.tokens.begin(), dataset.tokens.end());
  EXPECT_EQ(*least, 0);
  EXPECT_LT(*most, 10000);
  const auto below_root =
      std::count_if(dataset.tokens.begin(), dataset.tokens.end(), [](int t) { return t < 100; });
  EXPECT_NEAR(static_cast<double>(below_root) / 1e6, 0.5, 0.15);
  // After one and the same word, one word follows at least every third time.
  std::map<int, int> followers;
  int seen = 0;
  for (std::size_t i = 0; i + 1 < dataset.tokens.size(); ++i) {
    if (dataset.tokens[i] != 40) continue;
    ++seen;
    ++followers[dataset.tokens[i + 1]];
  }
  int best = 0;
  for (const auto& follower : followers) best = std::max(best, follower.second);
  ASSERT_GT(seen, 100);
  EXPECT_GT(best * 3, seen);
}

TEST(SyntheticTokens, DependOnTheSeedAlone) {
  const auto network = WordNetwork();
  EXPECT_EQ(MakeSyntheticTokens(network, 1).tokens, MakeSyntheticTokens(network, 1).tokens);
  EXPECT_NE(MakeSyntheticTokens(network, 1).content_hash,
            MakeSyntheticTokens(network, 2).content_hash);
}

class TextTest : public TemporaryFolderTest {};

TEST_F(TextTest, ATextFileIsADataSet) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "word" + std::to_string(i) + " and\n";
  for (const auto& path : {Put("plain.txt", text), Put("packed.txt.gz", Gzip(text))}) {
    const auto dataset = LoadDataset({"", path, 1}, WordNetwork());
    ASSERT_TRUE(dataset.ok()) << dataset.error().message();
    EXPECT_EQ(dataset->tokens.size(), 90U);
    EXPECT_EQ(dataset->samples, 22);
    EXPECT_EQ(dataset->name, path.filename());
    EXPECT_FALSE(dataset->synthetic);
  }
  EXPECT_THAT(LoadDataset({"", folder_ / "none.txt", 1}, WordNetwork()).error().message(),
              HasSubstr("none.txt"));
}

TEST_F(TextTest, WithoutATextTokensAreGeneratedAndSaySo) {
  const auto dataset = LoadDataset({}, WordNetwork(), {"/nonexistent", "/nonexistent"});
  ASSERT_TRUE(dataset.ok()) << dataset.error().message();
  EXPECT_TRUE(dataset->synthetic);
}

TEST_F(TextTest, TheBibleIsWhatTheProgramPrints) {
  const auto program =
      Put("bible", "#!/bin/sh\necho 'Gen1:1 In the beginning'\necho 'Gen1:2 And'\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto dataset = LoadDataset({}, WordNetwork(), {"/nonexistent", program});
  ASSERT_TRUE(dataset.ok()) << dataset.error().message();
  EXPECT_EQ(dataset->name, "kjv");
  EXPECT_EQ(dataset->tokens.size(), 6U);
}

TEST_F(TextTest, ValuesAndTokensAreNotTakenForEachOther) {
  EXPECT_THAT(LoadDataset({"mnist", {}, 1}, WordNetwork()).error().message(),
              HasSubstr("takes tokens"));
}

class TokenPoolTest : public testing::Test {
 protected:
  // Token i is i, so that a batch tells where it was cut.
  static Dataset Counting(std::int64_t tokens) {
    Dataset dataset;
    dataset.name = "counting";
    dataset.sample_shape = {4};
    dataset.samples = (tokens - 1) / 4;
    for (std::int64_t i = 0; i < tokens; ++i) dataset.tokens.push_back(static_cast<int>(i));
    return dataset;
  }
};

TEST_F(TokenPoolTest, ARowGoesOnWhereTheRowOfTheBatchBeforeEnded) {
  const auto pool = MakeBatchPool(Counting(1001), WordNetwork(4, 2000), 3, 5);
  ASSERT_TRUE(pool.ok()) << pool.error().message();
  EXPECT_EQ(pool->count, 8);
  ASSERT_EQ(pool->x.size(), 8U * 3 * 4);
  ASSERT_EQ(pool->labels.size(), pool->x.size());
  for (std::size_t i = 0; i < pool->x.size(); ++i) {
    EXPECT_EQ(pool->labels[i], static_cast<int>(pool->x[i]) + 1);
  }
  for (std::size_t i = 0; i + 12 < pool->x.size(); ++i) EXPECT_EQ(pool->x[i + 12], pool->x[i] + 4);
  // Rows are far apart: each has its own part of the text.
  EXPECT_EQ(pool->x[4] - pool->x[0], 333);
}

TEST_F(TokenPoolTest, TheSeedChoosesTheBeginning) {
  std::set<float> begins;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    begins.insert(MakeBatchPool(Counting(1001), WordNetwork(4, 2000), 3, seed)->x[0]);
  }
  EXPECT_GT(begins.size(), 2U);
}

TEST_F(TokenPoolTest, ATextTooShortForTwoBatchesIsRefused) {
  EXPECT_TRUE(MakeBatchPool(Counting(17), WordNetwork(4, 2000), 2, 1).ok());
  EXPECT_THAT(MakeBatchPool(Counting(16), WordNetwork(4, 2000), 2, 1).error().message(),
              HasSubstr("no two batches of 2 sequences of 4"));
}

TEST_F(TokenPoolTest, NoTokenMayLackItsClass) {
  auto network = WordNetwork(4, 2000);
  network.classes = 1999;
  EXPECT_THAT(MakeBatchPool(Counting(1001), network, 2, 1).error().message(),
              HasSubstr("2000 with 1999 classes"));
}

}  // namespace
}  // namespace dlbench::data
