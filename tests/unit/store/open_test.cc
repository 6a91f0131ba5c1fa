#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "store_fixture.h"

namespace dlbench::store {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Error OpenError(const std::filesystem::path& folder) { return Store::Open(folder).error(); }

TEST(Open, MakesTheFolderAndAnEmptyStore) {
  const TemporaryFolder folder;
  const auto store = Store::Open(folder.path() / "a" / "b");
  ASSERT_TRUE(store.ok()) << store.error().message();
  EXPECT_THAT(*(*store)->Campaigns(), SizeIs(0));
  const auto file = folder.path() / "a" / "b" / "results.sqlite";
  EXPECT_EQ(Sql(file, "PRAGMA journal_mode"), "wal");
  EXPECT_EQ(Sql(file, "PRAGMA user_version"), "1");
  EXPECT_EQ(Sql(file, "PRAGMA application_id"), std::to_string(0x646c6263));
}

TEST(Open, AbsentResultsAreNotFoundForReading) {
  const TemporaryFolder folder;
  const auto store = Store::OpenReadOnly(folder.path());
  EXPECT_EQ(store.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(store.error().message(), HasSubstr(folder.path().string()));
  EXPECT_THAT(store.error().message(), HasSubstr("dlbench run"));
  EXPECT_FALSE(std::filesystem::exists(folder.file())) << "reading creates nothing";
}

TEST(Open, EmptyFileHoldsNoResultsAndMayBeWrittenTo) {
  const TemporaryFolder folder;
  std::ofstream(folder.file()).close();
  EXPECT_EQ(Store::OpenReadOnly(folder.path()).error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(Store::Open(folder.path()).ok());
}

TEST(Open, FileThatIsNoDatabaseIsRefusedAndKept) {
  const TemporaryFolder folder;
  const std::string text(5000, 'x');
  std::ofstream(folder.file()) << text;
  for (const Error& error :
       {OpenError(folder.path()), Store::OpenReadOnly(folder.path()).error()}) {
    EXPECT_EQ(error.code(), ErrorCode::kInput);
    EXPECT_THAT(error.message(), HasSubstr("not a results database"));
    EXPECT_THAT(error.message(), HasSubstr(folder.file().string()));
  }
  std::ifstream in(folder.file());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
}

TEST(Open, DatabaseOfAnotherProgramIsRefusedAndNotTouched) {
  const TemporaryFolder folder;
  Sql(folder.file(), "CREATE TABLE theirs (a)");
  for (const Error& error :
       {OpenError(folder.path()), Store::OpenReadOnly(folder.path()).error()}) {
    EXPECT_EQ(error.code(), ErrorCode::kInput);
    EXPECT_THAT(error.message(), HasSubstr("another program"));
  }
  EXPECT_EQ(Sql(folder.file(), "PRAGMA journal_mode"), "delete");
  EXPECT_EQ(Sql(folder.file(), "SELECT count(*) FROM sqlite_schema"), "1");
}

TEST(Open, NewerSchemaIsRefusedWithBothVersions) {
  const TemporaryFolder folder;
  ASSERT_TRUE(Store::Open(folder.path()).ok());
  Sql(folder.file(), "PRAGMA user_version = 7");
  for (const Error& error :
       {OpenError(folder.path()), Store::OpenReadOnly(folder.path()).error()}) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.message(), HasSubstr("newer dlbench (schema 7, this one knows up to 1)"));
  }
  EXPECT_EQ(Sql(folder.file(), "PRAGMA user_version"), "7");
}

TEST(Open, FolderThatIsAFileIsRefused) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file").close();
  const Error error = OpenError(folder.path() / "file");
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.message(), HasSubstr("--out"));
}

TEST(Open, SecondWriterIsToldWhoWrites) {
  const TemporaryFolder folder;
  const auto first = Store::Open(folder.path());
  ASSERT_TRUE(first.ok());
  const Error error = OpenError(folder.path());
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.message(), HasSubstr("locked by process " + std::to_string(::getpid())));
}

TEST(Open, WriterMayFollowAWriter) {
  const TemporaryFolder folder;
  ASSERT_TRUE(Store::Open(folder.path()).ok());
  EXPECT_TRUE(Store::Open(folder.path()).ok());
}

TEST(Open, ReaderSeesWhatAWriterHasAddedSoFar) {
  const TemporaryFolder folder;
  const auto writer = Store::Open(folder.path());
  ASSERT_TRUE((*writer)->AddCampaign(Campaign{}).ok());
  const auto reader = Store::OpenReadOnly(folder.path());
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  EXPECT_THAT(*(*reader)->Campaigns(), SizeIs(1));
  ASSERT_TRUE((*writer)->AddCampaign(Campaign{}).ok());
  EXPECT_THAT(*(*reader)->Campaigns(), SizeIs(2));
}

TEST(Open, ReaderCannotWrite) {
  const TemporaryFolder folder;
  ASSERT_TRUE(Store::Open(folder.path()).ok());
  const auto reader = Store::OpenReadOnly(folder.path());
  EXPECT_EQ((*reader)->AddCampaign(Campaign{}).error().code(), ErrorCode::kIo);
  EXPECT_FALSE((*reader)->TakeIncomplete().ok());
}

/// Acts as a user who owns nothing, where the test runs as root, whom no permission stops.
class WithoutRights {
 public:
  WithoutRights() : is_root_(::geteuid() == 0) {
    if (is_root_ && ::seteuid(65534) != 0) works_ = false;
  }
  ~WithoutRights() {
    if (is_root_ && works_ && ::seteuid(0) != 0) std::abort();
  }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;
  bool works() const { return works_; }

 private:
  bool is_root_;
  bool works_ = true;
};

TEST(Open, UnwritableFolderSaysSoAndIsStillReadable) {
  const TemporaryFolder folder;
  {
    const auto writer = Store::Open(folder.path());
    ASSERT_TRUE((*writer)->AddCampaign(Campaign{}).ok());
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  ASSERT_EQ(::chmod(folder.file().c_str(), 0444), 0);
  ASSERT_EQ(::chmod((folder.path() / "results.lock").c_str(), 0444), 0);
  {
    const WithoutRights user;
    if (!user.works()) GTEST_SKIP() << "cannot act as another user";
    const Error error = OpenError(folder.path());
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_THAT(error.message(), HasSubstr("Permission denied"));
    EXPECT_THAT(error.message(), HasSubstr(folder.path().string()));
    const auto reader = Store::OpenReadOnly(folder.path());
    ASSERT_TRUE(reader.ok()) << reader.error().message();
    EXPECT_THAT(*(*reader)->Campaigns(), SizeIs(1));
    EXPECT_FALSE(Store::Open(folder.path() / "new").ok());
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
}

TEST(Open, UnwritableFileInAWritableFolderSaysSo) {
  const TemporaryFolder folder;
  ASSERT_TRUE(Store::Open(folder.path()).ok());
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(folder.file().c_str(), 0444), 0);
  ASSERT_EQ(::chmod((folder.path() / "results.lock").c_str(), 0666), 0);
  const WithoutRights user;
  if (!user.works()) GTEST_SKIP() << "cannot act as another user";
  const Error error = OpenError(folder.path());
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.message(), HasSubstr("check the permissions"));
}

}  // namespace
}  // namespace dlbench::store
