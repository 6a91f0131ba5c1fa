#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/worker.h"

namespace dlbench::worker {

/// One reply line, parsed and found to be the answer to our request. The readers check each field;
/// the first fault is kept and reported by fault(), so that a caller reads everything and asks
/// once.
class Reply {
 public:
  /// Largest integer that a reader accepts by default.
  static constexpr std::int64_t kAnyInteger = std::numeric_limits<std::int64_t>::max();

  /// Parses `line`, the answer of type `type` to the request `id`. Anything else is a Failure: an
  /// error reply with its own kind, all other lines kProtocolError.
  static Outcome<Reply> Parse(std::string_view line, std::int64_t id, std::string_view type);
  Reply(Reply&&) noexcept;
  Reply& operator=(Reply&&) noexcept;
  ~Reply();

  /// A required text of 1 to 1000 bytes.
  std::string Text(const std::string& key);
  /// The same, where absence means something.
  std::optional<std::string> OptionalText(const std::string& key);
  /// A required integer in [low, high].
  std::int64_t Integer(const std::string& key, std::int64_t low, std::int64_t high = kAnyInteger);
  /// The same, absent as 0.
  std::int64_t OptionalInteger(const std::string& key, std::int64_t low);
  /// A required true or false.
  bool Flag(const std::string& key);
  /// A required list of texts.
  std::vector<std::string> Texts(const std::string& key);
  /// An object of texts; empty if absent.
  std::map<std::string, std::string> TextMap(const std::string& key);
  /// A required list of integers.
  std::vector<std::int64_t> Integers(const std::string& key);
  /// A required list of finite numbers; `each` names one of them ("loss of step"). A number that is
  /// not finite is kWrongResult: NaN is an answer, only the wrong one.
  std::vector<double> Finite(const std::string& key, const std::string& each);

  /// Keeps `message` as the fault unless there is one.
  void Fail(FailureKind kind, const std::string& message);
  /// The first fault met by a reader; also NaN or Infinity in a field that nobody has read.
  std::optional<Failure> fault() const;

 private:
  struct Document;
  explicit Reply(std::unique_ptr<Document> document);
  std::unique_ptr<Document> document_;
};

}  // namespace dlbench::worker
