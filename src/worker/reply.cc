#include "worker/reply.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "worker/failure.h"
#include "worker/json_text.h"

namespace dlbench::worker {
namespace {

using Json = nlohmann::json;

/// Deeper than any message of the protocol by far.
constexpr std::size_t kDeepest = 32;
/// Longest text of a field. Names and settings are short; an error's message may be longer.
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestMessage = 8192;

Failure BadLine(const std::string& what, std::string_view line) {
  return MakeFailure(FailureKind::kProtocolError, what + ". The line begins: " + Quoted(line));
}

/// JSON or why not, without the parser's exceptions.
Outcome<Json> ParseJson(const std::string& text, std::string_view original) {
  try {
    Json json = Json::parse(text);
    if (!json.is_object()) return BadLine("the reply is not a JSON object", original);
    return json;
  } catch (const Json::parse_error& error) {
    return BadLine("the reply is not JSON (fault at byte " + std::to_string(error.byte) + ")",
                   original);
  } catch (const Json::exception& error) {
    return BadLine(std::string("the reply is not usable JSON: ") + error.what(), original);
  }
}

std::string TextOr(const Json& json, const std::string& key, const std::string& otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

Failure ErrorReply(const Json& json) {
  const std::string kind = TextOr(json, "kind", "");
  const std::string message =
      Quoted(TextOr(json, "message", "(no message was given)"), kLongestMessage);
  if (kind == "unsupported") return MakeFailure(FailureKind::kUnsupported, message);
  if (kind == "out_of_memory") {
    return MakeFailure(FailureKind::kOutOfMemory, "the adapter ran out of memory: " + message);
  }
  if (kind == "failed") {
    return MakeFailure(FailureKind::kAdapterFailed, "the adapter failed: " + message);
  }
  return MakeFailure(FailureKind::kProtocolError,
                     "an error reply of the unknown kind '" + Quoted(kind) +
                         "' (known: unsupported, out_of_memory, failed): " + message);
}

bool IsInt64(const Json& value) {
  if (!value.is_number_integer()) return false;
  return !value.is_number_unsigned() ||
         value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Reply::kAnyInteger);
}

std::string Describe(const Json& value) {
  return Quoted(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

std::optional<Failure> CheckEnvelope(const Json& json, std::int64_t id, std::string_view type,
                                     std::string_view line) {
  const auto found_id = json.find("id");
  if (found_id == json.end() || !IsInt64(*found_id)) {
    return BadLine("the reply has no integer 'id'", line);
  }
  if (found_id->get<std::int64_t>() != id) {
    return BadLine("the reply has id " + std::to_string(found_id->get<std::int64_t>()) +
                       ", the request had " + std::to_string(id),
                   line);
  }
  const std::string found_type = TextOr(json, "type", "");
  if (found_type == "error") return ErrorReply(json);
  if (found_type != type) {
    return BadLine(
        "the reply's type is '" + Quoted(found_type) + "', not '" + std::string(type) + "'", line);
  }
  return std::nullopt;
}

}  // namespace

struct Reply::Document {
  Json json;
  bool non_finite = false;
  std::optional<Failure> fault;

  /// The value of `key`; null and a fault if it is required and absent.
  const Json* Find(Reply& reply, const std::string& key, bool required) {
    const auto found = json.find(key);
    if (found != json.end()) return &*found;
    if (required) {
      reply.Fail(FailureKind::kProtocolError, "the reply has no field '" + key + "'");
    }
    return nullptr;
  }
  /// The list `key`; null and a fault if it is none.
  const Json* FindList(Reply& reply, const std::string& key) {
    const Json* value = Find(reply, key, true);
    if (value != nullptr && !value->is_array()) {
      reply.Fail(FailureKind::kProtocolError, "'" + key + "' must be a list");
      return nullptr;
    }
    return value;
  }
  /// A text of legal length.
  std::string TextOf(Reply& reply, const std::string& name, const Json& value) {
    if (!value.is_string()) {
      reply.Fail(FailureKind::kProtocolError,
                 "'" + name + "' must be a text, not " + Describe(value));
      return "";
    }
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() <= kLongestText) return text;
    reply.Fail(FailureKind::kProtocolError, "'" + name + "' is a text of " +
                                                std::to_string(text.size()) + " bytes (at most " +
                                                std::to_string(kLongestText) + ")");
    return "";
  }
};

Reply::Reply(std::unique_ptr<Document> document) : document_(std::move(document)) {}
Reply::Reply(Reply&&) noexcept = default;
Reply& Reply::operator=(Reply&&) noexcept = default;
Reply::~Reply() = default;

Outcome<Reply> Reply::Parse(std::string_view line, std::int64_t id, std::string_view type) {
  if (JsonDepth(line) > kDeepest) {
    return BadLine("the reply is nested deeper than " + std::to_string(kDeepest) + " levels", line);
  }
  std::string text = MendUtf8(line);
  const bool non_finite = ReplaceNonFinite(text);
  auto json = ParseJson(text, line);
  if (!json.ok()) return json.failure();
  if (auto failure = CheckEnvelope(*json, id, type, line)) return std::move(*failure);
  auto document = std::make_unique<Document>();
  document->json = std::move(*json);
  document->non_finite = non_finite;
  return Reply(std::move(document));
}

std::string Reply::Text(const std::string& key) {
  const Json* value = document_->Find(*this, key, true);
  std::string text = value != nullptr ? document_->TextOf(*this, key, *value) : "";
  if (text.empty()) Fail(FailureKind::kProtocolError, "'" + key + "' must not be empty");
  return text;
}

std::optional<std::string> Reply::OptionalText(const std::string& key) {
  const Json* value = document_->Find(*this, key, false);
  if (value == nullptr) return std::nullopt;
  return document_->TextOf(*this, key, *value);
}

std::int64_t Reply::Integer(const std::string& key, std::int64_t low, std::int64_t high) {
  const Json* value = document_->Find(*this, key, true);
  if (value == nullptr) return low;
  if (!IsInt64(*value) || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high) {
    std::string range = "of at least " + std::to_string(low);
    if (high != kAnyInteger) range = "from " + std::to_string(low) + " to " + std::to_string(high);
    Fail(FailureKind::kProtocolError,
         "'" + key + "' must be an integer " + range + ", not " + Describe(*value));
    return low;
  }
  return value->get<std::int64_t>();
}

std::int64_t Reply::OptionalInteger(const std::string& key, std::int64_t low) {
  return document_->Find(*this, key, false) == nullptr ? 0 : Integer(key, low);
}

bool Reply::Flag(const std::string& key) {
  const Json* value = document_->Find(*this, key, true);
  if (value == nullptr) return false;
  if (!value->is_boolean()) {
    Fail(FailureKind::kProtocolError,
         "'" + key + "' must be true or false, not " + Describe(*value));
    return false;
  }
  return value->get<bool>();
}

std::vector<std::string> Reply::Texts(const std::string& key) {
  std::vector<std::string> texts;
  const Json* list = document_->FindList(*this, key);
  if (list == nullptr) return texts;
  for (const Json& value : *list) texts.push_back(document_->TextOf(*this, key, value));
  return texts;
}

std::map<std::string, std::string> Reply::TextMap(const std::string& key) {
  std::map<std::string, std::string> texts;
  const Json* object = document_->Find(*this, key, false);
  if (object == nullptr) return texts;
  if (!object->is_object()) {
    Fail(FailureKind::kProtocolError, "'" + key + "' must be an object of texts");
    return texts;
  }
  for (const auto& [name, value] : object->items()) {
    texts[name] = document_->TextOf(*this, key + "." + Quoted(name), value);
  }
  return texts;
}

std::vector<std::int64_t> Reply::Integers(const std::string& key) {
  std::vector<std::int64_t> integers;
  const Json* list = document_->FindList(*this, key);
  if (list == nullptr) return integers;
  integers.reserve(list->size());
  for (const Json& value : *list) {
    if (!IsInt64(value)) {
      Fail(FailureKind::kProtocolError, "entry " + std::to_string(integers.size()) + " of '" + key +
                                            "' must be an integer, not " + Describe(value));
      break;
    }
    integers.push_back(value.get<std::int64_t>());
  }
  return integers;
}

std::vector<double> Reply::Finite(const std::string& key, const std::string& each) {
  std::vector<double> numbers;
  const Json* list = document_->FindList(*this, key);
  if (list == nullptr) return numbers;
  numbers.reserve(list->size());
  for (const Json& value : *list) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      const std::string seen = value.is_null() ? "NaN, Infinity or null" : Describe(value);
      Fail(value.is_null() || value.is_number() ? FailureKind::kWrongResult
                                                : FailureKind::kProtocolError,
           "the " + each + " " + std::to_string(numbers.size()) + " is not a finite number but " +
               seen);
      break;
    }
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

void Reply::Fail(FailureKind kind, const std::string& message) {
  if (!document_->fault) document_->fault = MakeFailure(kind, message);
}

std::optional<Failure> Reply::fault() const {
  if (document_->fault || !document_->non_finite) return document_->fault;
  return MakeFailure(FailureKind::kProtocolError,
                     "the reply holds NaN or Infinity, which JSON does not know");
}

}  // namespace dlbench::worker
