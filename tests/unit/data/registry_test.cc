#include "data/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace dlbench::data {
namespace {

using testing::HasSubstr;

class RegistryTest : public TemporaryFolderTest {
 protected:
  DataRegistry registry_{folder_ / "below" / "data-sets.json"};
};

TEST_F(RegistryTest, RemembersOneSetOfEachKind) {
  EXPECT_TRUE(registry_.All()->empty());
  ASSERT_TRUE(registry_.Put({"text", "/a/corpus.txt", "11"}).ok());
  ASSERT_TRUE(registry_.Put({"cifar10", "/a/cifar", "22"}).ok());
  ASSERT_TRUE(registry_.Put({"text", "/b/other.txt", "33"}).ok());
  const auto all = registry_.All();
  ASSERT_TRUE(all.ok()) << all.error().message();
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[0].kind, "cifar10");
  const auto text = registry_.Find("text");
  ASSERT_TRUE(text.ok() && text->has_value());
  EXPECT_EQ((*text)->path, "/b/other.txt");
  EXPECT_EQ((*text)->content_hash, "33");
  EXPECT_FALSE(registry_.Find("mnist")->has_value());
}

TEST_F(RegistryTest, ForgetsASet) {
  ASSERT_TRUE(registry_.Put({"text", "/a", "11"}).ok());
  EXPECT_TRUE(registry_.Remove("text").ok());
  EXPECT_FALSE(registry_.Find("text")->has_value());
  EXPECT_THAT(registry_.Remove("text").error().message(), HasSubstr("'text'"));
}

TEST_F(RegistryTest, ADamagedFileIsNamedAndLeftAlone) {
  for (const char* content : {"", "{", "[]", R"({"sets":[{"kind":"text"}]})",
                              R"({"sets":[{"kind":"text","path":"rel","content_hash":""}]})"}) {
    Put("sets.json", content);
    const DataRegistry registry(folder_ / "sets.json");
    EXPECT_THAT(registry.All().error().message(), HasSubstr("sets.json")) << content;
    EXPECT_FALSE(registry.Put({"mnist", "/a", "1"}).ok()) << content;
  }
}

}  // namespace
}  // namespace dlbench::data
