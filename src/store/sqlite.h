#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/result.h"

namespace dlbench::store {

/// Bytes for a BLOB column, as against text.
struct Blob {
  std::string bytes;
};

/// What is bound to a parameter; std::monostate is NULL.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

/// The value, or NULL for none.
template <class T>
Value OrNull(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

class Connection;

/// A prepared statement; finalised at destruction. Must not outlive its connection.
class Statement {
 public:
  /// Moves to the next row; false after the last one.
  Result<bool> Step();

  /// Columns of the current row, from 0; NULL reads as 0 or empty.
  std::int64_t Int(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;
  /// The bytes of a BLOB.
  std::string Bytes(int column) const;
  bool IsNull(int column) const;
  std::optional<double> OptionalReal(int column) const;
  std::optional<std::int64_t> OptionalInt(int column) const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  explicit Statement(const Connection* connection) : connection_(connection) {}

  const Connection* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// How a file is opened.
enum class OpenMode {
  kReadWrite,  ///< Created where absent.
  kReadOnly,
  kImmutable,  ///< Read-only, and nobody else may change the file: needs no write access at all.
};

/// An open database file. Movable; closed at destruction.
class Connection {
 public:
  static Result<Connection> Open(const std::filesystem::path& file, OpenMode mode);

  /// A statement with its parameters bound, before its first row.
  Result<Statement> Query(const char* sql, const std::vector<Value>& values = {}) const;
  /// Runs one statement to its end.
  Status Execute(const char* sql, const std::vector<Value>& values = {}) const;
  /// Runs several statements without parameters.
  Status ExecuteScript(const std::string& sql) const;
  /// First column of the first row.
  Result<std::int64_t> QueryInt(const char* sql, const std::vector<Value>& values = {}) const;

  std::int64_t LastInsertId() const { return sqlite3_last_insert_rowid(handle_.get()); }
  std::int64_t Changes() const { return sqlite3_changes64(handle_.get()); }
  bool IsReadOnly() const { return sqlite3_db_readonly(handle_.get(), "main") == 1; }
  bool InTransaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  /// The last failure in words for the user, naming the file.
  Error LastError() const;
  /// The same for a given SQLite result code.
  Error ErrorFor(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  explicit Connection(std::filesystem::path file) : file_(std::move(file)) {}

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A write transaction, rolled back at destruction unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(const Connection& connection);
  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Status Commit();

 private:
  explicit Transaction(const Connection* connection) : connection_(connection) {}
  const Connection* connection_;
};

}  // namespace dlbench::store
