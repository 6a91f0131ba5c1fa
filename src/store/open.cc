#include <string>
#include <system_error>

#include "store/schema.h"
#include "store/sqlite_store.h"

namespace dlbench::store {
namespace {

constexpr const char* kFileName = "results.sqlite";

/// WAL lets reports read while a campaign writes; FULL syncs every commit, a few a launch, so that
/// a power cut loses no more than a kill.
constexpr const char* kWriterPragmas =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
    "PRAGMA trusted_schema = OFF;";

/// What the file says it is.
struct Identity {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t tables = 0;
};

Result<Identity> ReadIdentity(const Connection& connection) {
  Identity identity;
  DLBENCH_ASSIGN_OR_RETURN(identity.application, connection.QueryInt("PRAGMA application_id"));
  DLBENCH_ASSIGN_OR_RETURN(identity.version, connection.QueryInt("PRAGMA user_version"));
  DLBENCH_ASSIGN_OR_RETURN(identity.tables,
                           connection.QueryInt("SELECT count(*) FROM sqlite_schema"));
  return identity;
}

bool IsEmpty(const Identity& identity) {
  return identity.application == 0 && identity.version == 0 && identity.tables == 0;
}

Error NoResults(const std::filesystem::path& folder) {
  return Error(ErrorCode::kNotFound, "there are no results in '" + folder.string() +
                                         "': make some with 'dlbench run' or name their folder "
                                         "with --out");
}

Status CheckIdentity(const Identity& identity, const std::filesystem::path& file) {
  if (identity.application != kApplicationId) {
    return Error(ErrorCode::kInput, "'" + file.string() +
                                        "' is a database of another program, not of dlbench: move "
                                        "it away or choose another folder with --out");
  }
  if (identity.version > kSchemaVersion) {
    return Error(ErrorCode::kUnsupported,
                 "'" + file.string() + "' was written by a newer dlbench (schema " +
                     std::to_string(identity.version) + ", this one knows up to " +
                     std::to_string(kSchemaVersion) + "): use that dlbench");
  }
  return {};
}

/// Brings the schema to kSchemaVersion in one transaction.
Status Migrate(const Connection& connection, const std::filesystem::path& file) {
  DLBENCH_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection));
  DLBENCH_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(connection));
  if (!IsEmpty(identity)) DLBENCH_RETURN_IF_ERROR(CheckIdentity(identity, file));
  for (const Migration& migration : Migrations()) {
    if (migration.version <= identity.version) continue;
    DLBENCH_RETURN_IF_ERROR(connection.ExecuteScript(std::string(migration.sql)));
  }
  DLBENCH_RETURN_IF_ERROR(
      connection.ExecuteScript("PRAGMA application_id = " + std::to_string(kApplicationId) +
                               "; PRAGMA user_version = " + std::to_string(kSchemaVersion)));
  return transaction.Commit();
}

/// Opens for reading. A folder that cannot be written needs the immutable mode, which is safe as
/// long as no log of an unfinished writer waits beside the file.
Result<Connection> OpenForReading(const std::filesystem::path& file) {
  DLBENCH_ASSIGN_OR_RETURN(Connection connection, Connection::Open(file, OpenMode::kReadOnly));
  const auto readable = connection.QueryInt("SELECT count(*) FROM sqlite_schema");
  if (readable.ok()) return connection;
  std::error_code ignored;
  const auto log_bytes = std::filesystem::file_size(file.string() + "-wal", ignored);
  const bool log_waits = !ignored && log_bytes > 0;
  if (readable.error().code() != ErrorCode::kIo || log_waits) return readable.error();
  return Connection::Open(file, OpenMode::kImmutable);
}

}  // namespace

Result<std::unique_ptr<Store>> Store::Open(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    return Error(ErrorCode::kIo, "cannot make the results folder '" + folder.string() + "': " +
                                     failure.message() + "; choose another folder with --out");
  }
  DLBENCH_ASSIGN_OR_RETURN(WriterLock lock, WriterLock::Take(folder));
  const std::filesystem::path file = folder / kFileName;
  DLBENCH_ASSIGN_OR_RETURN(Connection connection, Connection::Open(file, OpenMode::kReadWrite));
  // Nothing may be written into a file that is not ours, not even the journal mode.
  DLBENCH_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(connection));
  if (!IsEmpty(identity)) DLBENCH_RETURN_IF_ERROR(CheckIdentity(identity, file));
  if (connection.IsReadOnly()) return connection.ErrorFor(SQLITE_READONLY);
  DLBENCH_RETURN_IF_ERROR(connection.ExecuteScript(kWriterPragmas));
  if (identity.version != kSchemaVersion) DLBENCH_RETURN_IF_ERROR(Migrate(connection, file));
  return std::unique_ptr<Store>(
      std::make_unique<SqliteStore>(std::move(lock), std::move(connection)));
}

Result<std::unique_ptr<Store>> Store::OpenReadOnly(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kFileName;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return NoResults(folder);
  DLBENCH_ASSIGN_OR_RETURN(Connection connection, OpenForReading(file));
  DLBENCH_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(connection));
  if (IsEmpty(identity)) return NoResults(folder);  // Killed before its first transaction.
  DLBENCH_RETURN_IF_ERROR(CheckIdentity(identity, file));
  if (identity.version < kSchemaVersion) {
    return Error(ErrorCode::kUnsupported, "'" + file.string() +
                                              "' was written by an older dlbench: 'dlbench run' "
                                              "with --out on this folder brings it up to date");
  }
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::nullopt, std::move(connection)));
}

}  // namespace dlbench::store
