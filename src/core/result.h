#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace dlbench {

/// What kind of thing went wrong; decides the exit status (docs/exit-status.md).
enum class ErrorCode {
  kUsage,        ///< The command line is wrong.
  kInput,        ///< A file or value that the user gave is wrong.
  kNotFound,     ///< Something named does not exist.
  kIo,           ///< The operating system refused a read, write or start.
  kUnsupported,  ///< Valid, but this build, machine or framework cannot do it.
  kFailed,       ///< A worker or an external command failed.
  kInterrupted,  ///< The user asked to stop (SIGINT, SIGTERM).
  kInternal,     ///< A bug in dlbench.
};

/// An expected failure: what happened, where, and what to do next, in words for the user.
class Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  /// The whole text, outermost context first: "reading 'a.toml': line 3: unknown key 'lr'".
  const std::string& message() const { return message_; }
  /// The same error with "context: " before its message.
  [[nodiscard]] Error WithContext(const std::string& context) const {
    return Error(code_, context + ": " + message_);
  }

 private:
  ErrorCode code_;
  std::string message_;
};

/// Either a value or an Error. Reading the wrong side is a programming error
/// (std::bad_variant_access).
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<Error>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace dlbench

#define DLBENCH_CONCAT_INNER(a, b) a##b
#define DLBENCH_CONCAT(a, b) DLBENCH_CONCAT_INNER(a, b)

/// Returns the error of `expression` from the enclosing function, if it has one.
#define DLBENCH_RETURN_IF_ERROR(expression)                                                      \
  do {                                                                                           \
    if (auto dlbench_status = (expression); !dlbench_status.ok()) return dlbench_status.error(); \
  } while (false)

// A declaration cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
/// `DLBENCH_ASSIGN_OR_RETURN(auto x, F());` declares x from F()'s value or returns F()'s error.
#define DLBENCH_ASSIGN_OR_RETURN(declaration, expression) \
  DLBENCH_ASSIGN_OR_RETURN_INNER(DLBENCH_CONCAT(dlbench_result_, __LINE__), declaration, expression)
#define DLBENCH_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                           \
  if (!result.ok()) return result.error();                              \
  declaration = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)
