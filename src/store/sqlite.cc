#include "store/sqlite.h"

#include <cstdint>

namespace dlbench::store {
namespace {

/// STRICT tables came with 3.37.
static_assert(SQLITE_VERSION_NUMBER >= 3037000);

/// Another program may hold the file for the length of one of its transactions.
constexpr int kBusyTimeoutMs = 5000;

/// SQLITE_TRANSIENT without the old-style cast of its macro: SQLite copies what is bound.
sqlite3_destructor_type Transient() {
  return reinterpret_cast<sqlite3_destructor_type>(static_cast<std::intptr_t>(-1));
}

int Bind(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, index, *real);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), Transient(),
                               SQLITE_UTF8);
  }
  if (const auto* blob = std::get_if<Blob>(&value)) {
    return sqlite3_bind_blob64(statement, index, blob->bytes.data(), blob->bytes.size(),
                               Transient());
  }
  return sqlite3_bind_null(statement, index);
}

}  // namespace

Result<bool> Statement::Step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->LastError();
}

std::int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

double Statement::Real(int column) const { return sqlite3_column_double(handle_.get(), column); }

std::string Statement::Text(int column) const {
  // The text first: it settles the encoding that the count of bytes refers to.
  const unsigned char* text = sqlite3_column_text(handle_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), size);
}

std::string Statement::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(handle_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::optional<double> Statement::OptionalReal(int column) const {
  return IsNull(column) ? std::nullopt : std::optional(Real(column));
}

std::optional<std::int64_t> Statement::OptionalInt(int column) const {
  return IsNull(column) ? std::nullopt : std::optional(Int(column));
}

Result<Connection> Connection::Open(const std::filesystem::path& file, OpenMode mode) {
  Connection connection(file);
  int flags = SQLITE_OPEN_READONLY;
  std::string name = file.string();
  if (mode == OpenMode::kReadWrite) flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (mode == OpenMode::kImmutable) {
    flags |= SQLITE_OPEN_URI;
    std::string escaped;
    for (const char c : std::filesystem::absolute(file).string()) {
      constexpr char kHex[] = "0123456789abcdef";
      if (c == '%' || c == '?' || c == '#') {
        escaped += {'%', kHex[(c >> 4) & 15], kHex[c & 15]};
      } else {
        escaped += c;
      }
    }
    name = "file:" + escaped + "?immutable=1";
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  connection.handle_.reset(handle);
  if (handle == nullptr) return connection.ErrorFor(SQLITE_NOMEM);
  if (code != SQLITE_OK) return connection.LastError();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return connection;
}

Result<Statement> Connection::Query(const char* sql, const std::vector<Value>& values) const {
  Statement statement(this);
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql, -1, &handle, nullptr) != SQLITE_OK) {
    return LastError();
  }
  statement.handle_.reset(handle);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (Bind(handle, static_cast<int>(i) + 1, values[i]) != SQLITE_OK) return LastError();
  }
  return statement;
}

Status Connection::Execute(const char* sql, const std::vector<Value>& values) const {
  DLBENCH_ASSIGN_OR_RETURN(Statement statement, Query(sql, values));
  while (true) {
    DLBENCH_ASSIGN_OR_RETURN(const bool more, statement.Step());
    if (!more) return {};
  }
}

Status Connection::ExecuteScript(const std::string& sql) const {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return LastError();
  }
  return {};
}

Result<std::int64_t> Connection::QueryInt(const char* sql, const std::vector<Value>& values) const {
  DLBENCH_ASSIGN_OR_RETURN(Statement statement, Query(sql, values));
  DLBENCH_ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.Int(0) : 0;
}

Error Connection::LastError() const { return ErrorFor(sqlite3_extended_errcode(handle_.get())); }

Error Connection::ErrorFor(int code) const {
  const std::string file = "'" + file_.string() + "'";
  const char* undone =
      ": nothing of the last entry was written; free some space and run the same command again";
  // SQLite does not tell a quota or a size limit from a defective disk.
  if (code == SQLITE_IOERR_WRITE) {
    return Error(ErrorCode::kIo, "cannot write " + file +
                                     ", no space left under a quota or limit, or the disk fails" +
                                     undone);
  }
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return Error(ErrorCode::kIo, "no space left for " + file + undone);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(ErrorCode::kIo, file + " is locked by another program: close it and try again");
    case SQLITE_NOTADB:
      return Error(ErrorCode::kInput, file +
                                          " is not a results database: move it away or choose "
                                          "another folder with --out");
    case SQLITE_CORRUPT:
      return Error(
          ErrorCode::kInput,
          file + " is damaged: restore it from a copy or choose another folder with --out");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return Error(ErrorCode::kIo, file +
                                       " cannot be opened or written: check the permissions of "
                                       "the folder and the file");
    default:
      break;
  }
  const char* detail = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  const bool input_output = (code & 0xFF) == SQLITE_IOERR;
  return Error(input_output ? ErrorCode::kIo : ErrorCode::kInternal,
               file + ": " + std::string(detail));
}

Result<Transaction> Transaction::Begin(const Connection& connection) {
  DLBENCH_RETURN_IF_ERROR(connection.Execute("BEGIN IMMEDIATE"));
  return Transaction(&connection);
}

Transaction::~Transaction() {
  // Some errors (disk full) have rolled back already.
  if (connection_ == nullptr || !connection_->InTransaction()) return;
  // Nothing can be done about a failure here: the next opening rolls back what is left.
  static_cast<void>(connection_->Execute("ROLLBACK").ok());
}

Status Transaction::Commit() {
  DLBENCH_RETURN_IF_ERROR(connection_->Execute("COMMIT"));
  connection_ = nullptr;
  return {};
}

}  // namespace dlbench::store
