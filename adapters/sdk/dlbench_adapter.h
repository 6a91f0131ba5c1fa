#pragma once

// dlbench's adapter SDK for C++17: one header, no dependency but the standard library and POSIX.
// An adapter derives from dlbench::adapter::Adapter and calls Serve(); this file speaks the
// protocol (docs/protocol.md), reads and writes the tensor files and runs the timed loops.
// docs/writing-an-adapter.md has a complete example. Compiles with g++ and with clang 14 against
// libstdc++ 10, which has no floating-point std::to_chars: hence the "C" locale below.
//
// Sections: 1 errors, 2 JSON, 3 CRC-32, 4 safetensors, 5 network and specification, 6 Adapter,
// 7 timed loops, 8 channel, 9 server.

#include <fcntl.h>
#include <locale.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the tensor files are little-endian, and so must the machine be"
#endif

namespace dlbench::adapter {

/// Version of docs/protocol.md that this file speaks.
inline constexpr int kProtocol = 1;
/// Longest line in either direction, in bytes.
inline constexpr std::size_t kLineLimit = std::size_t{16} << 20;

// ---------------------------------------------------------------------------------------------
// 1. Errors. Throw these from an Adapter; any other exception is answered as `failed`.

/// What was asked is valid but not available here; the text is the reason shown to the user.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Memory ran out. std::bad_alloc, and any exception whose text says so, count as well.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether an exception's text is a framework's way to say that memory ran out.
inline bool SaysOutOfMemory(std::string text) {
  for (char& c : text) c = (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  return text.find("out of memory") != std::string::npos ||
         text.find("can't allocate memory") != std::string::npos;
}

// ---------------------------------------------------------------------------------------------
// 2. JSON

/// `text` with every byte that is not part of valid UTF-8 as the four characters \xXX.
inline std::string ValidUtf8(std::string_view text) {
  std::string result;
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = [&](std::size_t k) {
      return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
    };
    const unsigned lead = byte(i);
    const std::size_t length = lead < 0x80                    ? 1
                               : lead >= 0xC2 && lead <= 0xDF ? 2
                               : (lead & 0xF0) == 0xE0        ? 3
                               : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                              : 0;
    bool valid = length > 0;
    for (std::size_t k = 1; k < length; ++k) valid = valid && (byte(i + k) & 0xC0) == 0x80;
    // Overlong forms, surrogates and code points above U+10FFFF.
    if (lead == 0xE0) valid = valid && byte(i + 1) >= 0xA0;
    if (lead == 0xED) valid = valid && byte(i + 1) < 0xA0;
    if (lead == 0xF0) valid = valid && byte(i + 1) >= 0x90;
    if (lead == 0xF4) valid = valid && byte(i + 1) < 0x90;
    if (valid) {
      result.append(text.substr(i, length));
      i += length;
    } else {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02X", lead);
      result += escaped.data();
      ++i;
    }
  }
  return result;
}

/// The "C" locale: a framework or library may have set another one for the process.
inline locale_t PlainLocale() {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr));
  return plain;
}

/// One JSON value. Objects keep the order in which their members were set. Reading a member that is
/// missing or of another kind throws std::runtime_error with the member's name.
class Json {
 public:
  enum class Kind { kNull, kBool, kInteger, kReal, kText, kArray, kObject };
  using Member = std::pair<std::string, Json>;

  Json() = default;
  Json(bool value) : kind_(Kind::kBool), integer_(value ? 1 : 0) {}
  Json(std::int64_t value) : kind_(Kind::kInteger), integer_(value) {}
  Json(int value) : kind_(Kind::kInteger), integer_(value) {}
  Json(double value) : kind_(Kind::kReal), real_(value) {}
  Json(std::string value) : kind_(Kind::kText), text_(std::move(value)) {}
  Json(const char* value) : kind_(Kind::kText), text_(value) {}
  static Json Array() { return Json(Kind::kArray); }
  static Json Object() { return Json(Kind::kObject); }
  /// An array of the elements of any container whose elements a Json can be made from.
  template <class Container>
  static Json ArrayOf(const Container& values) {
    Json result = Array();
    result.items_.reserve(values.size());
    for (const auto& value : values) result.items_.emplace_back(value);
    return result;
  }
  /// An object of texts.
  static Json ObjectOf(const std::map<std::string, std::string>& values) {
    Json result = Object();
    for (const auto& [key, value] : values) result.Set(key, value);
    return result;
  }
  /// Parses a whole text; throws std::runtime_error with the byte where it goes wrong.
  static Json Parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool Is(Kind kind) const { return kind_ == kind; }
  /// Appends a member; keys are not checked for being set twice.
  Json& Set(std::string key, Json value) {
    members_.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  void Append(Json value) { items_.push_back(std::move(value)); }

  bool Bool() const { return Require(Kind::kBool, "true or false").integer_ != 0; }
  std::int64_t Integer() const { return Require(Kind::kInteger, "an integer").integer_; }
  double Real() const {
    if (kind_ == Kind::kInteger) return static_cast<double>(integer_);
    return Require(Kind::kReal, "a number").real_;
  }
  const std::string& Text() const { return Require(Kind::kText, "a text").text_; }
  const std::vector<Json>& Items() const { return Require(Kind::kArray, "an array").items_; }
  const std::vector<Member>& Members() const {
    return Require(Kind::kObject, "an object").members_;
  }

  /// Null where there is no such member.
  const Json* Find(std::string_view key) const {
    for (const Member& member : Members()) {
      if (member.first == key) return &member.second;
    }
    return nullptr;
  }
  const Json& At(std::string_view key) const {
    if (const Json* found = Find(key)) return *found;
    throw std::runtime_error("field '" + std::string(key) + "' is missing");
  }
  std::int64_t IntegerAt(std::string_view key) const {
    return Named(key, [](const Json& value) { return value.Integer(); });
  }
  double RealAt(std::string_view key) const {
    return Named(key, [](const Json& value) { return value.Real(); });
  }
  bool BoolAt(std::string_view key) const {
    return Named(key, [](const Json& value) { return value.Bool(); });
  }
  std::string TextAt(std::string_view key) const {
    return Named(key, [](const Json& value) { return value.Text(); });
  }
  std::vector<std::int64_t> IntegersAt(std::string_view key) const {
    return Named(key, [](const Json& value) {
      std::vector<std::int64_t> result;
      for (const Json& item : value.Items()) result.push_back(item.Integer());
      return result;
    });
  }

  /// One line of text. Numbers are written with %.17g, so that every double survives.
  std::string Dump() const {
    std::string out;
    DumpTo(out);
    return out;
  }

 private:
  explicit Json(Kind kind) : kind_(kind) {}

  const Json& Require(Kind kind, const char* wanted) const {
    if (kind_ != kind) throw std::runtime_error(std::string("is not ") + wanted);
    return *this;
  }
  template <class Read>
  std::invoke_result_t<Read, const Json&> Named(std::string_view key, Read read) const {
    const Json& value = At(key);
    try {
      return read(value);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("field '" + std::string(key) + "' " + error.what());
    }
  }
  void DumpTo(std::string& out) const;
  static void DumpText(std::string_view text, std::string& out);

  Kind kind_ = Kind::kNull;
  std::int64_t integer_ = 0;  ///< Also the boolean.
  double real_ = 0.0;
  std::string text_;
  std::vector<Json> items_;
  std::vector<Member> members_;
};

inline void Json::DumpText(std::string_view text, std::string& out) {
  static constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
  static constexpr std::string_view kLetters = "\"\\bfnrt";
  out += '"';
  for (const char c : ValidUtf8(text)) {
    const std::size_t which = kSpecial.find(c);
    if (which != std::string_view::npos) {
      out += '\\';
      out += kLetters[which];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  out += '"';
}

inline void Json::DumpTo(std::string& out) const {
  switch (kind_) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += integer_ != 0 ? "true" : "false";
      return;
    case Kind::kInteger:
      out += std::to_string(integer_);
      return;
    case Kind::kReal: {
      if (!std::isfinite(real_)) throw std::runtime_error("a number to be sent is not finite");
      std::array<char, 40> digits{};
      const locale_t before = uselocale(PlainLocale());
      std::snprintf(digits.data(), digits.size(), "%.17g", real_);
      uselocale(before);
      out += digits.data();
      return;
    }
    case Kind::kText:
      DumpText(text_, out);
      return;
    case Kind::kArray: {
      out += '[';
      for (std::size_t i = 0; i < items_.size(); ++i) {
        if (i > 0) out += ',';
        items_[i].DumpTo(out);
      }
      out += ']';
      return;
    }
    case Kind::kObject: {
      out += '{';
      for (std::size_t i = 0; i < members_.size(); ++i) {
        if (i > 0) out += ',';
        DumpText(members_[i].first, out);
        out += ':';
        members_[i].second.DumpTo(out);
      }
      out += '}';
      return;
    }
  }
}

/// Recursive-descent parser of RFC 8259, at most 64 levels deep.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  Json Parse() {
    Json value = Value(0);
    SkipBlanks();
    if (at_ != text_.size()) Fail("there is text after the value");
    return value;
  }

 private:
  static constexpr int kDepthLimit = 64;

  [[noreturn]] void Fail(const std::string& what) const {
    throw std::runtime_error("JSON, byte " + std::to_string(at_) + ": " + what);
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipBlanks() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') ++at_;
  }
  void Expect(char c) {
    if (Peek() != c) Fail(std::string("expected '") + c + "'");
    ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  Json Word(std::string_view word, Json value) {
    if (text_.substr(at_, word.size()) != word) Fail("unknown word");
    at_ += word.size();
    return value;
  }

  Json Value(int depth) {
    if (depth > kDepthLimit) Fail("nested too deeply");
    SkipBlanks();
    switch (Peek()) {
      case '{':
        return ObjectValue(depth);
      case '[':
        return ArrayValue(depth);
      case '"':
        return Json(TextValue());
      case 't':
        return Word("true", Json(true));
      case 'f':
        return Word("false", Json(false));
      case 'n':
        return Word("null", Json());
      default:
        return NumberValue();
    }
  }

  Json ObjectValue(int depth) {
    Json result = Json::Object();
    Expect('{');
    if (Take('}')) return result;
    do {
      SkipBlanks();
      std::string key = TextValue();
      SkipBlanks();
      Expect(':');
      result.Set(std::move(key), Value(depth + 1));
    } while (Take(','));
    SkipBlanks();
    Expect('}');
    return result;
  }

  Json ArrayValue(int depth) {
    Json result = Json::Array();
    Expect('[');
    if (Take(']')) return result;
    do {
      result.Append(Value(depth + 1));
    } while (Take(','));
    SkipBlanks();
    Expect(']');
    return result;
  }

  unsigned HexDigits() {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = Peek();
      unsigned digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<unsigned>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<unsigned>(c - 'a') + 10;
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<unsigned>(c - 'A') + 10;
      } else {
        Fail("expected four hexadecimal digits");
      }
      value = value * 16 + digit;
      ++at_;
    }
    return value;
  }

  void UnicodeEscape(std::string& out) {
    unsigned code = HexDigits();
    if (code >= 0xDC00 && code < 0xE000) Fail("half of a surrogate pair");
    if (code >= 0xD800 && code < 0xDC00) {
      if (text_.substr(at_, 2) != "\\u") Fail("half of a surrogate pair");
      at_ += 2;
      const unsigned low = HexDigits();
      if (low < 0xDC00 || low > 0xDFFF) Fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | (code >> 6));
      put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      put(0xE0 | (code >> 12));
      put(0x80 | ((code >> 6) & 0x3F));
      put(0x80 | (code & 0x3F));
    } else {
      put(0xF0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3F));
      put(0x80 | ((code >> 6) & 0x3F));
      put(0x80 | (code & 0x3F));
    }
  }

  std::string TextValue() {
    static constexpr std::string_view kEscapes = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    Expect('"');
    std::string out;
    while (true) {
      if (at_ >= text_.size()) Fail("the text is not closed");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) Fail("a control character inside a text");
      if (c != '\\') {
        out += c;
      } else if (Peek() == 'u') {
        ++at_;
        UnicodeEscape(out);
      } else {
        const std::size_t which = kEscapes.find(Peek());
        if (at_ >= text_.size() || which == std::string_view::npos) Fail("unknown escape");
        out += kMeanings[which];
        ++at_;
      }
    }
  }

  void Digits() {
    if (Peek() < '0' || Peek() > '9') Fail("expected a value");
    while (Peek() >= '0' && Peek() <= '9') ++at_;
  }

  Json NumberValue() {
    const std::size_t begin = at_;
    bool integer = true;
    if (Peek() == '-') ++at_;
    const bool zero_first = Peek() == '0';
    const std::size_t first_digit = at_;
    Digits();
    if (zero_first && at_ - first_digit > 1) Fail("a number with a leading zero");
    if (Peek() == '.') {
      integer = false;
      ++at_;
      Digits();
    }
    if (Peek() == 'e' || Peek() == 'E') {
      integer = false;
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      Digits();
    }
    const std::string digits(text_.substr(begin, at_ - begin));
    if (integer && digits != "-0") {  // Minus zero has no integer.
      errno = 0;
      const long long value = std::strtoll(digits.c_str(), nullptr, 10);
      if (errno == 0) return Json(static_cast<std::int64_t>(value));
    }
    const double value = strtod_l(digits.c_str(), nullptr, PlainLocale());
    if (!std::isfinite(value)) Fail("a number that is too large");
    return Json(value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

inline Json Json::Parse(std::string_view text) { return JsonParser(text).Parse(); }

// ---------------------------------------------------------------------------------------------
// 3. CRC-32 (zlib's: polynomial 0xEDB88320, reflected, inverted at both ends)

/// Continues `crc` (0 at first) over `size` bytes.
inline std::uint32_t Crc32(std::uint32_t crc, const void* data, std::size_t size) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> result{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) {
        value = (value & 1U) != 0 ? (value >> 1) ^ 0xEDB88320U : value >> 1;
      }
      result[i] = value;
    }
    return result;
  }();
  const auto* bytes = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (std::size_t i = 0; i < size; ++i) crc = table[(crc ^ bytes[i]) & 0xFFU] ^ (crc >> 8);
  return ~crc;
}

// ---------------------------------------------------------------------------------------------
// 4. safetensors: 8 bytes of header length (little-endian), a JSON header, the raw tensors

using Shape = std::vector<std::int64_t>;

/// Product of the sizes; throws if one is negative or the product needs more than 62 bits.
inline std::int64_t ElementCount(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) throw std::runtime_error("a tensor has a negative size");
    if (size > 0 && count > (std::int64_t{1} << 62) / size) {
      throw std::runtime_error("a tensor is too large");
    }
    count *= size;
  }
  return count;
}

/// "[64, 784]".
inline std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

/// A tensor in somebody else's memory (a mapped file).
struct TensorView {
  std::string dtype;  ///< As safetensors spells it: "F32", "I32".
  Shape shape;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// Tensors of the safetensors file image [data, data + size). Every length and offset is checked;
/// throws std::runtime_error. The views point into the image.
inline std::map<std::string, TensorView> ParseSafetensors(const std::byte* data, std::size_t size) {
  std::uint64_t header_size = 0;
  if (size < 8) throw std::runtime_error("safetensors: shorter than 8 bytes");
  std::memcpy(&header_size, data, 8);
  if (header_size > size - 8 || header_size > (std::uint64_t{100} << 20)) {
    throw std::runtime_error("safetensors: the header's length is wrong");
  }
  const auto header_bytes = static_cast<std::size_t>(header_size);
  const std::byte* body = data + 8 + header_bytes;
  const std::size_t body_bytes = size - 8 - header_bytes;
  const Json header =
      Json::Parse(std::string_view(reinterpret_cast<const char*>(data) + 8, header_bytes));
  static const std::map<std::string, std::int64_t> sizes = {
      {"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}, {"U8", 1}, {"F16", 2}, {"BF16", 2}};
  std::map<std::string, TensorView> tensors;
  for (const auto& [name, entry] : header.Members()) {
    if (name == "__metadata__") continue;
    TensorView view;
    view.dtype = entry.TextAt("dtype");
    view.shape = entry.IntegersAt("shape");
    const std::vector<std::int64_t> range = entry.IntegersAt("data_offsets");
    const auto element = sizes.find(view.dtype);
    if (element == sizes.end()) {
      throw std::runtime_error("safetensors: '" + name + "' has the unknown type " + view.dtype);
    }
    const std::int64_t count = ElementCount(view.shape);
    if (range.size() != 2 || range[0] < 0 || range[1] < range[0] ||
        static_cast<std::uint64_t>(range[1]) > body_bytes || count > (std::int64_t{1} << 58) ||
        range[1] - range[0] != count * element->second) {
      throw std::runtime_error("safetensors: the offsets of '" + name + "' are wrong");
    }
    view.data = body + range[0];
    view.bytes = static_cast<std::size_t>(range[1] - range[0]);
    if (reinterpret_cast<std::uintptr_t>(view.data) %
            static_cast<std::uintptr_t>(element->second) !=
        0) {
      throw std::runtime_error("safetensors: '" + name + "' is not aligned");
    }
    if (!tensors.emplace(name, view).second) {
      throw std::runtime_error("safetensors: two tensors are named '" + name + "'");
    }
  }
  return tensors;
}

/// A safetensors file mapped read-only. Views are valid while the object lives.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size < 8) {
      const std::string reason = fd < 0 ? std::strerror(errno) : "shorter than 8 bytes";
      if (fd >= 0) close(fd);
      throw std::runtime_error("cannot read '" + path + "': " + reason);
    }
    size_ = static_cast<std::size_t>(status.st_size);
    void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) throw std::runtime_error("cannot map '" + path + "'");
    data_ = static_cast<std::byte*>(mapped);
    try {
      tensors_ = ParseSafetensors(data_, size_);
    } catch (const std::runtime_error& error) {
      munmap(data_, size_);
      throw std::runtime_error("'" + path + "': " + error.what());
    }
  }
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;
  ~SafetensorsFile() { munmap(data_, size_); }

  /// The tensor `name`, which must have this type and shape.
  const TensorView& At(const std::string& name, const std::string& dtype,
                       const Shape& shape) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      throw std::runtime_error("tensor '" + name + "' is missing in the file");
    }
    if (found->second.dtype != dtype || found->second.shape != shape) {
      throw std::runtime_error("tensor '" + name + "' is " + found->second.dtype + " " +
                               ToString(found->second.shape) + " instead of " + dtype + " " +
                               ToString(shape));
    }
    return found->second;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::map<std::string, TensorView> tensors_;
};

/// A float32 tensor to be written.
struct OutputTensor {
  std::string name;
  Shape shape;
  std::function<void(float*)> read;  ///< Puts the tensor's ElementCount(shape) numbers there.
};

/// Name, type, shape and place of every tensor: the file's first 8 bytes and its JSON header.
inline std::string SafetensorsHeader(const std::vector<OutputTensor>& tensors) {
  Json header = Json::Object();
  std::int64_t offset = 0;
  for (const OutputTensor& tensor : tensors) {
    const std::int64_t bytes =
        ElementCount(tensor.shape) * static_cast<std::int64_t>(sizeof(float));
    Json entry = Json::Object();
    entry.Set("dtype", "F32").Set("shape", Json::ArrayOf(tensor.shape));
    entry.Set("data_offsets", Json::ArrayOf(Shape{offset, offset + bytes}));
    header.Set(tensor.name, std::move(entry));
    offset += bytes;
  }
  std::string text = header.Dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + text;
}

/// A file written under another name and renamed when it is complete; removed if it never is.
class PartialFile {
 public:
  explicit PartialFile(const std::string& path) : path_(path), temporary_(path + ".partial") {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    file_ = std::fopen(temporary_.c_str(), "wbe");
    if (file_ == nullptr) Fail();
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() {
    if (file_ != nullptr) std::fclose(file_);
    if (!complete_) std::remove(temporary_.c_str());
  }

  void Write(const void* data, std::size_t bytes) {
    if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) Fail();
  }
  void Complete() {
    const int closed = std::fclose(file_);
    file_ = nullptr;
    if (closed != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) Fail();
    complete_ = true;
  }

 private:
  [[noreturn]] void Fail() const {
    throw std::runtime_error("cannot write '" + path_ + "': " + std::strerror(errno));
  }

  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
  bool complete_ = false;
};

/// Writes `path`, making its folder. Tensors are read one after the other, so that the memory
/// needed is that of the largest one.
inline void WriteSafetensors(const std::string& path, const std::vector<OutputTensor>& tensors) {
  const std::string header = SafetensorsHeader(tensors);
  PartialFile file(path);
  file.Write(header.data(), header.size());
  std::vector<float> values;
  for (const OutputTensor& tensor : tensors) {
    values.assign(static_cast<std::size_t>(ElementCount(tensor.shape)), 0.0F);
    tensor.read(values.data());
    file.Write(values.data(), values.size() * sizeof(float));
  }
  file.Complete();
}

// ---------------------------------------------------------------------------------------------
// 5. Network and specification: what `prepare` asks for

/// One trainable tensor in canonical layout: dense weight [out, in], bias [out].
struct Parameter {
  std::string name;  ///< Canonical, "fc1.weight".
  Shape shape;
  bool decays = true;              ///< Whether the optimiser's weight decay applies to it.
  const float* initial = nullptr;  ///< First values; the SDK's memory, valid for good.
  std::size_t count = 0;           ///< Elements.
};

/// One tensor that a node keeps from step to step and that no gradient changes: running statistics,
/// carried state. Adapter::Reset gives every element `initial` again.
struct Buffer {
  std::string name;  ///< Canonical, "bn1.running_mean".
  Shape shape;       ///< [batch, ...] where each sample has its own.
  bool per_sample = false;
  float initial = 0.0F;
  std::size_t count = 0;  ///< Elements.
};

/// One operation, in execution order.
struct Node {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;  ///< Names of earlier nodes, or "input".
  Json attributes = Json::Object();
  Shape output_shape;  ///< Of one sample.
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  /// Of a dropout: 0 or 1, [pool, batch, output_shape...]; the SDK's memory, valid for good.
  const std::uint8_t* mask = nullptr;

  std::int64_t Integer(std::string_view key) const { return attributes.IntegerAt(key); }
  bool Bool(std::string_view key) const { return attributes.BoolAt(key); }
  double Real(std::string_view key) const { return attributes.RealAt(key); }
  /// A word: "reset", "unbiased" ...
  std::string Text(std::string_view key) const { return attributes.TextAt(key); }
  /// kernel and stride are [height, width], padding is [top, left, bottom, right].
  std::vector<std::int64_t> List(std::string_view key) const { return attributes.IntegersAt(key); }
  /// The parameter called "<name>.<suffix>"; null where the node has none.
  const Parameter* Find(const std::string& suffix) const { return FindIn(parameters, suffix); }
  /// The buffer called "<name>.<suffix>"; null where the node has none.
  const Buffer* FindBuffer(const std::string& suffix) const { return FindIn(buffers, suffix); }

 private:
  template <class Tensor>
  const Tensor* FindIn(const std::vector<Tensor>& tensors, const std::string& suffix) const {
    for (const Tensor& tensor : tensors) {
      if (tensor.name == name + "." + suffix) return &tensor;
    }
    return nullptr;
  }
};

struct Loss {
  std::string kind;       ///< "softmax_cross_entropy".
  std::string reduction;  ///< "mean" or "sum" over the rows: batch, or batch * T.
  std::string input;      ///< Name of the node whose output are the logits.
};

/// v <- momentum * v + (g + decay * w); w <- w - learning_rate * v (nesterov: g + decay * w +
/// momentum * v instead of v). v starts at 0.
struct Optimizer {
  std::string kind;  ///< "sgd".
  double learning_rate = 0.0;
  double momentum = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
};

struct Network {
  std::string name;
  std::string variant;
  std::int64_t classes = 0;
  std::string input_kind = "values";  ///< Or "tokens": ids from 0 to vocabulary - 1.
  Shape input_shape;                  ///< Of one sample; of tokens [T].
  std::int64_t vocabulary = 0;        ///< 0 for values.
  std::vector<Node> nodes;
  Loss loss;
  Optimizer optimizer;

  /// All parameters in canonical order.
  std::vector<const Parameter*> Parameters() const {
    std::vector<const Parameter*> result;
    for (const Node& node : nodes) {
      for (const Parameter& parameter : node.parameters) result.push_back(&parameter);
    }
    return result;
  }
  /// All buffers in canonical order.
  std::vector<const Buffer*> Buffers() const {
    std::vector<const Buffer*> result;
    for (const Node& node : nodes) {
      for (const Buffer& buffer : node.buffers) result.push_back(&buffer);
    }
    return result;
  }
  /// What the labels have beside the batch: [T] where the logits are [T, classes], else nothing.
  Shape LabelShape() const {
    for (const Node& node : nodes) {
      if (node.name == loss.input && node.output_shape.size() == 2) return {node.output_shape[0]};
    }
    return {};
  }
};

/// Reads one of a node's "parameters".
inline Parameter ReadParameter(const Json& json) {
  Parameter parameter;
  parameter.name = json.TextAt("name");
  parameter.shape = json.IntegersAt("shape");
  parameter.decays = json.BoolAt("decays");
  parameter.count = static_cast<std::size_t>(ElementCount(parameter.shape));
  return parameter;
}

/// Reads one of a node's "buffers".
inline Buffer ReadBuffer(const Json& json, std::int64_t batch) {
  Buffer buffer;
  buffer.name = json.TextAt("name");
  buffer.shape = json.IntegersAt("shape");
  buffer.initial = static_cast<float>(json.RealAt("initial"));
  buffer.per_sample = json.BoolAt("per_sample");
  if (buffer.per_sample) buffer.shape.insert(buffer.shape.begin(), batch);
  buffer.count = static_cast<std::size_t>(ElementCount(buffer.shape));
  return buffer;
}

/// Reads one of a network's "nodes".
inline Node ReadNode(const Json& json, std::int64_t batch) {
  Node node;
  node.name = json.TextAt("name");
  node.op = json.TextAt("op");
  for (const Json& input : json.At("inputs").Items()) node.inputs.push_back(input.Text());
  node.attributes = json.At("attributes");
  node.output_shape = json.IntegersAt("output_shape");
  for (const Json& item : json.At("parameters").Items()) {
    node.parameters.push_back(ReadParameter(item));
  }
  if (const Json* buffers = json.Find("buffers")) {  // Networks without any may leave it out.
    for (const Json& item : buffers->Items()) node.buffers.push_back(ReadBuffer(item, batch));
  }
  return node;
}

/// Reads the "network" of `prepare` for batches of `batch` samples.
inline Network ReadNetwork(const Json& json, std::int64_t batch) {
  Network network;
  network.name = json.TextAt("name");
  network.variant = json.TextAt("variant");
  network.classes = json.IntegerAt("classes");
  const Json& input = json.At("input");
  network.input_shape = input.IntegersAt("shape");
  if (input.Find("kind") != nullptr) network.input_kind = input.TextAt("kind");
  if (network.input_kind == "tokens") network.vocabulary = input.IntegerAt("vocabulary");
  for (const Json& item : json.At("nodes").Items()) network.nodes.push_back(ReadNode(item, batch));
  const Json& loss = json.At("loss");
  network.loss = {loss.TextAt("kind"), loss.TextAt("reduction"), loss.TextAt("input")};
  const Json& optimizer = json.At("optimizer");
  network.optimizer = {optimizer.TextAt("kind"), optimizer.RealAt("learning_rate"),
                       optimizer.RealAt("momentum"), optimizer.RealAt("weight_decay"),
                       optimizer.BoolAt("nesterov")};
  return network;
}

/// One batch, in the mapped file.
struct Batch {
  const float* x = nullptr;              ///< [batch, ...]; null where the input is tokens.
  const std::int32_t* labels = nullptr;  ///< [batch] or [batch, T], each in [0, classes).
  const std::int32_t* tokens = nullptr;  ///< [batch, T], each in [0, vocabulary); null for values.
};

/// What `prepare` asks for, checked against the files and against what the adapter declared.
struct Spec {
  Network network;
  std::int64_t batch = 0;  ///< Samples of one step.
  std::int64_t pool = 0;   ///< Batches.
  std::string mode, device, precision, input, preset, variant;
  int threads = 1;
  int rank = 0;
  int world_size = 1;
  std::map<std::string, std::string> settings;
  std::string folder;  ///< The launch's folder, absolute.

  std::int64_t sample_size = 0;          ///< Numbers or tokens in one sample.
  std::int64_t labels_per_sample = 1;    ///< T where the logits are [T, classes].
  const float* x = nullptr;              ///< [pool, batch, ...]; read-only, valid for good.
  const std::int32_t* tokens = nullptr;  ///< [pool, batch, T]; one of x and tokens is null.
  const std::int32_t* labels = nullptr;  ///< [pool, batch] or [pool, batch, T].

  /// Batch `index` of the pool.
  Batch At(std::int64_t index) const {
    const std::int64_t first = index * batch;
    return {x == nullptr ? nullptr : x + first * sample_size, labels + first * labels_per_sample,
            tokens == nullptr ? nullptr : tokens + first * sample_size};
  }
  /// Batch `index` of the masks of `node`, a dropout: 0 or 1, [batch, output_shape...].
  const std::uint8_t* MaskAt(const Node& node, std::int64_t index) const {
    return node.mask + index * batch * ElementCount(node.output_shape);
  }
};

// ---------------------------------------------------------------------------------------------
// 6. Adapter: what the author of an adapter writes

/// The fields of `hello`; docs/protocol.md says what they mean.
struct Description {
  std::string framework;
  std::string framework_version;
  std::string adapter_version = "1";
  std::map<std::string, std::string> mode_label;  ///< By preset.
  std::map<std::string, std::string> build;
  std::vector<std::string> devices = {"cpu"};
  std::vector<std::string> precisions = {"float32"};
  std::vector<std::string> modes = {"train"};
  std::vector<std::string> inputs = {"resident"};
  std::vector<std::string> presets = {"default"};
  std::vector<std::string> ops;
  std::vector<std::string> losses = {"softmax_cross_entropy"};  ///< Checked here, not sent.
  std::vector<std::string> optimizers = {"sgd"};                ///< Checked here, not sent.
  int max_world_size = 1;                                       ///< Checked here, not sent.
  bool asynchronous = false;
  std::string gradients = "step";
  std::string learning_rate = "input";
  std::map<std::string, std::string> settings;  ///< Name to one sentence.
};

/// The fields of `prepared`: what was really built and is really in force.
struct Prepared {
  std::int64_t batch = 0;
  std::string precision = "float32";
  int threads = 0;  ///< Read back from the framework.
  std::map<std::string, std::string> effective_settings;
};

/// One network in one framework. Calls come in the order Describe, Prepare, then any of the others.
/// An exception is an answer: Unsupported, OutOfMemory, anything else is `failed` with its text.
class Adapter {
 public:
  virtual ~Adapter() = default;

  /// Must be quick and allocate nothing large.
  virtual Description Describe() = 0;
  /// Builds the step for exactly this and moves the batches to the device. `spec` outlives the
  /// adapter's use. Throws Unsupported rather than doing something else.
  virtual Prepared Prepare(const Spec& spec) = 0;
  /// Weights, optimiser state and buffers as after Prepare, without building anything anew.
  virtual void Reset() = 0;
  /// The timed step: forward, loss, backward and update on batch `batch` of the pool. Synchronous
  /// adapters return when all is done; asynchronous ones may return before. It must not allocate
  /// or print if the framework lets it.
  virtual void Step(std::int64_t batch, double learning_rate) = 0;
  /// Loss of the last step, as the step computed it. Read inside the timed interval (after every
  /// step, or after every block if asynchronous), since a step is not done before its loss can be
  /// read; it is one number and must cost no more than that.
  virtual double Loss() = 0;
  /// Waits until all work handed to the framework is done: loss, weights, everything.
  virtual void Synchronize() {}
  /// Logits of the last step, [batch, classes] or [batch, T, classes], into `out`.
  virtual void ReadLogits(float* out) = 0;
  /// Gradient of the last step for `parameter` in canonical layout, parameter.count numbers. Not
  /// called when Describe().gradients is "none".
  virtual void ReadGradient(const Parameter& parameter, float* out) {
    (void)out;
    throw Unsupported("no gradient of " + parameter.name);
  }
  /// Present value of `parameter` in canonical layout.
  virtual void ReadWeight(const Parameter& parameter, float* out) = 0;
  /// Present value of `buffer`, buffer.count numbers. Called only for networks that have buffers.
  virtual void ReadBuffer(const Buffer& buffer, float* out) {
    (void)out;
    throw Unsupported("no buffer " + buffer.name);
  }
  /// Whether the framework keeps a velocity; by default, if there is momentum.
  virtual bool KeepsVelocity(const Spec& spec) const {
    return spec.network.optimizer.momentum != 0.0;
  }
  /// Velocity of `parameter` in the convention of struct Optimizer, in canonical layout.
  virtual void ReadVelocity(const Parameter& parameter, float* out) {
    (void)out;
    throw Unsupported("no velocity of " + parameter.name);
  }
  /// Largest memory in use so far, in bytes; by default the process's largest resident set.
  virtual std::int64_t PeakMemoryBytes() {
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  }
  /// Settings in force at the end; by default (empty) those of Prepare.
  virtual std::map<std::string, std::string> EffectiveSettings() { return {}; }
};

// ---------------------------------------------------------------------------------------------
// 7. Timed loops. Nothing is printed, allocated or sent between the first and the last clock.

/// CLOCK_MONOTONIC in nanoseconds.
inline std::int64_t MonotonicNs() {
  struct timespec now {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Records of a run: one of one step (synchronous) or of one block (asynchronous).
struct Records {
  std::vector<std::int64_t> steps, begin_ns, end_ns;
  std::vector<double> losses;  ///< Of the record's last step.

  explicit Records(std::size_t count)
      : steps(count), begin_ns(count), end_ns(count), losses(count) {}
};

/// The protocol's loop: step i on batch (first_batch + i) mod pool. `block_steps` is the number of
/// steps of a record: 1 for a synchronous adapter, which is done when Step has returned.
inline void RunBlocks(Adapter& adapter, const Spec& spec, bool asynchronous, std::int64_t steps,
                      std::int64_t block_steps, std::int64_t first_batch, Records& records) {
  const double learning_rate = spec.network.optimizer.learning_rate;
  std::int64_t batch = first_batch % spec.pool;
  std::int64_t taken = 0;
  for (std::size_t record = 0; taken < steps; ++record) {
    const std::int64_t count = std::min(block_steps, steps - taken);
    records.begin_ns[record] = MonotonicNs();
    for (std::int64_t i = 0; i < count; ++i) {
      adapter.Step(batch, learning_rate);
      batch = batch + 1 == spec.pool ? 0 : batch + 1;
    }
    if (asynchronous) adapter.Synchronize();
    records.losses[record] = adapter.Loss();
    records.end_ns[record] = MonotonicNs();
    records.steps[record] = count;
    taken += count;
  }
}

/// A plain loop as a user would write it, timed as a whole: what the protocol must not slow down.
inline std::int64_t BareBlockNs(Adapter& adapter, const Spec& spec, std::int64_t steps,
                                std::int64_t first_batch) {
  const double learning_rate = spec.network.optimizer.learning_rate;
  std::int64_t batch = first_batch % spec.pool;
  const std::int64_t begin = MonotonicNs();
  for (std::int64_t i = 0; i < steps; ++i) {
    adapter.Step(batch, learning_rate);
    batch = batch + 1 == spec.pool ? 0 : batch + 1;
  }
  adapter.Synchronize();
  return MonotonicNs() - begin;
}

/// SplitMix64 (Steele, Lea and Flood 2014): the order of the observer's blocks, equal in all SDKs.
inline std::uint64_t SplitMix64(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// `blocks` times 'b' and as often 'p' in a random order (Fisher-Yates).
inline std::string ObserverOrder(std::size_t blocks, std::uint64_t seed) {
  std::string order = std::string(blocks, 'b') + std::string(blocks, 'p');
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(SplitMix64(seed) % i)]);
  }
  return order;
}

// ---------------------------------------------------------------------------------------------
// 8. Channel

/// Lines over the two descriptors that dlbench has opened.
class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {
    // Programs that the framework starts (compilers) must not keep the channel open.
    fcntl(in_, F_SETFD, FD_CLOEXEC);
    fcntl(out_, F_SETFD, FD_CLOEXEC);
  }

  /// The next line without its newline; false at the end of the file.
  bool Read(std::string& line) {
    while (true) {
      const std::size_t newline = buffer_.find('\n', searched_);
      if (newline != std::string::npos) {
        line = buffer_.substr(0, newline);
        buffer_.erase(0, newline + 1);
        searched_ = 0;
        return true;
      }
      searched_ = buffer_.size();
      if (buffer_.size() > kLineLimit) throw std::runtime_error("a request is too long");
      std::array<char, 65536> chunk;
      const ssize_t got = read(in_, chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    }
  }

  /// Throws when nobody reads any more.
  void Write(std::string line) {
    line += '\n';
    std::size_t done = 0;
    while (done < line.size()) {
      const ssize_t put = write(out_, line.data() + done, line.size() - done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw std::runtime_error(std::string("cannot reply: ") + std::strerror(errno));
      done += static_cast<std::size_t>(put);
    }
  }

 private:
  int in_;
  int out_;
  std::string buffer_;
  std::size_t searched_ = 0;
};

// ---------------------------------------------------------------------------------------------
// 9. Server: from requests to calls of the Adapter

/// Answers requests one by one. Adapters use Serve() below.
class Server {
 public:
  /// `folder` is the launch's folder, absolute.
  Server(Adapter& adapter, std::string folder) : adapter_(adapter), folder_(std::move(folder)) {}

  /// The reply to one request, a line without its newline. Never throws for a bad request.
  std::string Answer(const std::string& line) {
    std::int64_t id = 0;
    try {
      const Json request = Json::Parse(line);
      id = request.IntegerAt("id");
      std::string reply = Dispatch(id, request).Dump();
      if (reply.size() >= kLineLimit) {
        throw std::runtime_error("the reply is longer than 16 MiB: ask for fewer steps");
      }
      return reply;
    } catch (const Unsupported& error) {
      return ErrorReply(id, "unsupported", error.what());
    } catch (const OutOfMemory& error) {
      return ErrorReply(id, "out_of_memory", error.what());
    } catch (const std::bad_alloc&) {
      return ErrorReply(id, "out_of_memory", "the process could not allocate memory");
    } catch (const std::exception& error) {
      return ErrorReply(id, SaysOutOfMemory(error.what()) ? "out_of_memory" : "failed",
                        error.what());
    }
  }
  /// Whether `finish` has been answered.
  bool finished() const { return finished_; }

 private:
  static std::string ErrorReply(std::int64_t id, const char* kind, const std::string& message) {
    return Reply(id, "error").Set("kind", kind).Set("message", message).Dump();
  }
  static Json Reply(std::int64_t id, const char* type) {
    Json reply = Json::Object();
    reply.Set("id", id).Set("type", type);
    return reply;
  }

  Json Dispatch(std::int64_t id, const Json& request) {
    const std::string type = request.TextAt("type");
    if (type == "hello") return Hello(id, request);
    if (type == "prepare") return Prepare(id, request);
    if (type == "finish") return Finish(id);
    const bool known = type == "verify" || type == "run" || type == "export" || type == "sync" ||
                       type == "observer";
    if (!known) throw Unsupported("request '" + type + "' is not known");
    if (!prepared_) throw std::runtime_error("'" + type + "' came before 'prepare'");
    if (type == "verify") return Verify(id, request);
    if (type == "run") return Run(id, request);
    if (type == "observer") return Observe(id, request);
    if (type == "export") return Export(id, request);
    adapter_.Synchronize();
    return Reply(id, "synced");
  }

  Json Hello(std::int64_t id, const Json& request) {
    if (request.IntegerAt("protocol") != kProtocol) {
      throw Unsupported("protocol " + std::to_string(request.IntegerAt("protocol")) +
                        " is not known; this adapter speaks 1");
    }
    Describe();
    const Description& d = description_;
    Json reply = Reply(id, "hello");
    reply.Set("protocol", kProtocol).Set("framework", d.framework);
    reply.Set("framework_version", d.framework_version).Set("adapter_version", d.adapter_version);
    reply.Set("language", "c++").Set("mode_label", Json::ObjectOf(d.mode_label));
    reply.Set("build", Json::ObjectOf(d.build)).Set("devices", Json::ArrayOf(d.devices));
    reply.Set("precisions", Json::ArrayOf(d.precisions)).Set("modes", Json::ArrayOf(d.modes));
    reply.Set("inputs", Json::ArrayOf(d.inputs)).Set("presets", Json::ArrayOf(d.presets));
    reply.Set("ops", Json::ArrayOf(d.ops)).Set("asynchronous", d.asynchronous);
    reply.Set("gradients", d.gradients).Set("learning_rate", d.learning_rate);
    reply.Set("settings", Json::ObjectOf(d.settings));
    return reply;
  }

  void Describe() {
    if (!described_) description_ = adapter_.Describe();
    described_ = true;
  }

  Json Prepare(std::int64_t id, const Json& request) {
    if (prepared_) throw std::runtime_error("'prepare' came twice: one network a process");
    Describe();
    ReadSpec(request);
    CheckSupported();
    MapFiles(request);
    Prepared result = adapter_.Prepare(spec_);
    adapter_.Synchronize();
    prepared_ = true;
    effective_settings_ = result.effective_settings;
    Json reply = Reply(id, "prepared");
    reply.Set("batch", result.batch).Set("precision", result.precision);
    reply.Set("threads", result.threads);
    reply.Set("effective_settings", Json::ObjectOf(effective_settings_));
    return reply;
  }

  void ReadSpec(const Json& request) {
    spec_ = Spec();
    spec_.batch = request.IntegerAt("batch");
    spec_.pool = request.IntegerAt("pool");
    if (spec_.batch < 1 || spec_.pool < 1) {
      throw std::runtime_error("'batch' and 'pool' must be at least 1");
    }
    spec_.network = ReadNetwork(request.At("network"), spec_.batch);
    spec_.mode = request.TextAt("mode");
    spec_.device = request.TextAt("device");
    spec_.precision = request.TextAt("precision");
    spec_.input = request.TextAt("input");
    spec_.preset = request.TextAt("preset");
    spec_.variant = request.TextAt("variant");
    spec_.threads = SmallInteger(request, "threads", 1);
    spec_.rank = SmallInteger(request, "rank", 0);
    spec_.world_size = SmallInteger(request, "world_size", 1);
    for (const auto& [key, value] : request.At("settings").Members()) {
      spec_.settings[key] = value.Text();
    }
    spec_.folder = folder_;
  }

  static int SmallInteger(const Json& request, const std::string& key, std::int64_t least) {
    const std::int64_t value = request.IntegerAt(key);
    if (value < least || value > std::numeric_limits<int>::max()) {
      throw std::runtime_error("'" + key + "' is " + std::to_string(value) + ", out of range");
    }
    return static_cast<int>(value);
  }

  static void RequireDeclared(const char* what, const std::string& value,
                              const std::vector<std::string>& declared) {
    if (std::find(declared.begin(), declared.end(), value) == declared.end()) {
      throw Unsupported(std::string(what) + " " + value + " is not built");
    }
  }

  void CheckSupported() const {
    const Description& d = description_;
    RequireDeclared("mode", spec_.mode, d.modes);
    RequireDeclared("device", spec_.device, d.devices);
    RequireDeclared("precision", spec_.precision, d.precisions);
    RequireDeclared("input", spec_.input, d.inputs);
    RequireDeclared("preset", spec_.preset, d.presets);
    RequireDeclared("input kind", spec_.network.input_kind, {"values", "tokens"});
    for (const Node& node : spec_.network.nodes) RequireDeclared("op", node.op, d.ops);
    RequireDeclared("loss", spec_.network.loss.kind, d.losses);
    RequireDeclared("loss reduction", spec_.network.loss.reduction, {"mean", "sum"});
    RequireDeclared("optimizer", spec_.network.optimizer.kind, d.optimizers);
    if (spec_.world_size > d.max_world_size) {
      throw Unsupported("world_size " + std::to_string(spec_.world_size) + " is not built");
    }
    for (const auto& [key, value] : spec_.settings) {
      (void)value;
      if (d.settings.count(key) == 0) throw Unsupported("setting " + key + " is not known");
    }
  }

  /// Maps weights and batches and points the specification at them.
  void MapFiles(const Json& request) {
    weights_ = std::make_unique<SafetensorsFile>(request.TextAt("weights"));
    batches_ = std::make_unique<SafetensorsFile>(request.TextAt("batches"));
    for (Node& node : spec_.network.nodes) {
      for (Parameter& parameter : node.parameters) {
        const TensorView& view = weights_->At(parameter.name, "F32", parameter.shape);
        parameter.initial = reinterpret_cast<const float*>(view.data);
      }
    }
    const Network& network = spec_.network;
    spec_.sample_size = ElementCount(network.input_shape);
    spec_.labels_per_sample = ElementCount(network.LabelShape());
    spec_.labels = MapIds("labels", "label", network.LabelShape(), network.classes,
                          std::to_string(network.classes) + " classes");
    if (network.input_kind == "tokens") {
      spec_.tokens = MapIds("x", "token", network.input_shape, network.vocabulary,
                            "a vocabulary of " + std::to_string(network.vocabulary));
    } else {
      const TensorView& x = batches_->At("x", "F32", PoolShape(network.input_shape));
      spec_.x = reinterpret_cast<const float*>(x.data);
    }
    for (Node& node : spec_.network.nodes) {
      if (node.op == "dropout") MapMask(node);
    }
  }

  /// [pool, batch, sample...].
  Shape PoolShape(const Shape& sample) const {
    Shape shape = {spec_.pool, spec_.batch};
    shape.insert(shape.end(), sample.begin(), sample.end());
    return shape;
  }

  /// Where element `index` of a tensor is: "[0, 3, 5]".
  static std::string Place(const Shape& shape, std::int64_t index) {
    Shape place(shape.size());
    for (std::size_t i = shape.size(); i > 0; --i) {
      place[i - 1] = index % shape[i - 1];
      index /= shape[i - 1];
    }
    return ToString(place);
  }

  /// The I32 tensor `name` of the pool, whose elements must lie in [0, end): `range` in words.
  const std::int32_t* MapIds(const std::string& name, const std::string& noun, const Shape& sample,
                             std::int64_t end, const std::string& range) const {
    const Shape shape = PoolShape(sample);
    const auto* ids = reinterpret_cast<const std::int32_t*>(batches_->At(name, "I32", shape).data);
    for (std::int64_t i = 0; i < ElementCount(shape); ++i) {
      if (ids[i] >= 0 && ids[i] < end) continue;
      throw std::runtime_error(noun + " " + std::to_string(ids[i]) + " at " + Place(shape, i) +
                               " is outside of " + range);
    }
    return ids;
  }

  void MapMask(Node& node) const {
    const Shape shape = PoolShape(node.output_shape);
    const TensorView& view = batches_->At("mask." + node.name, "U8", shape);
    node.mask = reinterpret_cast<const std::uint8_t*>(view.data);
    for (std::int64_t i = 0; i < ElementCount(shape); ++i) {
      if (node.mask[i] <= 1) continue;
      throw std::runtime_error("mask." + node.name + " is " + std::to_string(node.mask[i]) +
                               " at " + Place(shape, i) + " instead of 0 or 1");
    }
  }

  Json Verify(std::int64_t id, const Json& request) {
    const std::string folder = request.TextAt("folder");
    const std::vector<std::int64_t> batches = request.IntegersAt("batches");
    const std::vector<std::int64_t> weights_after = request.IntegersAt("weights_after");
    const std::vector<double> rates = LearningRates(request, batches.size());
    const bool wants_logits = request.BoolAt("logits") && !batches.empty();
    const bool wants_gradients =
        request.BoolAt("gradients") && !batches.empty() && description_.gradients != "none";
    CheckInside(folder);
    for (const std::int64_t batch : batches) CheckBatch(batch);
    adapter_.Reset();
    Json weights = Json::Object();
    std::vector<double> losses;
    const auto export_weights = [&](std::int64_t taken) {
      if (std::find(weights_after.begin(), weights_after.end(), taken) == weights_after.end()) {
        return;
      }
      const std::string name = folder + "/weights-" + std::to_string(taken) + ".safetensors";
      WriteState(name);
      weights.Set(std::to_string(taken), name);
    };
    export_weights(0);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      adapter_.Step(batches[i], rates[i]);
      adapter_.Synchronize();
      losses.push_back(adapter_.Loss());
      CheckLoss(losses.back(), i);
      if (i == 0 && wants_logits) WriteLogits(folder + "/logits.safetensors");
      if (i == 0 && wants_gradients) {
        WriteParameters(folder + "/gradients.safetensors", &Adapter::ReadGradient);
      }
      export_weights(static_cast<std::int64_t>(i) + 1);
    }
    adapter_.Synchronize();
    Json reply = Reply(id, "verified");
    reply.Set("losses", Json::ArrayOf(losses));
    if (wants_logits) reply.Set("logits", folder + "/logits.safetensors");
    if (wants_gradients) reply.Set("gradients", folder + "/gradients.safetensors");
    return reply.Set("weights", std::move(weights));
  }

  std::vector<double> LearningRates(const Json& request, std::size_t count) const {
    std::vector<double> rates;
    for (const Json& rate : request.At("learning_rates").Items()) rates.push_back(rate.Real());
    if (rates.size() != count) {
      throw std::runtime_error("'batches' and 'learning_rates' differ in length");
    }
    for (const double rate : rates) {
      if (description_.learning_rate == "fixed" && rate != spec_.network.optimizer.learning_rate) {
        throw Unsupported("the learning rate is fixed");
      }
    }
    return rates;
  }

  void CheckBatch(std::int64_t batch) const {
    if (batch < 0 || batch >= spec_.pool) {
      throw std::runtime_error("batch " + std::to_string(batch) + " is outside of the pool of " +
                               std::to_string(spec_.pool));
    }
  }

  /// A folder must be a relative path that stays inside the launch's folder.
  static void CheckInside(const std::string& folder) {
    const std::filesystem::path path(folder);
    const bool leaves = std::any_of(path.begin(), path.end(),
                                    [](const std::filesystem::path& part) { return part == ".."; });
    if (folder.empty() || path.is_absolute() || leaves) {
      throw std::runtime_error("folder '" + folder + "' is not inside the launch's folder");
    }
  }

  static void CheckLoss(double loss, std::size_t index) {
    if (!std::isfinite(loss)) {
      throw std::runtime_error("the loss of entry " + std::to_string(index) + " is not finite");
    }
  }

  void WriteLogits(const std::string& name) {
    Shape shape = spec_.network.LabelShape();
    shape.insert(shape.begin(), spec_.batch);
    shape.push_back(spec_.network.classes);
    const auto read = [this](float* out) { adapter_.ReadLogits(out); };
    WriteSafetensors(folder_ + "/" + name, {{"logits", std::move(shape), read}});
  }

  using ReadTensor = void (Adapter::*)(const Parameter&, float*);

  std::vector<OutputTensor> Parameters(ReadTensor read) {
    std::vector<OutputTensor> tensors;
    for (const Parameter* parameter : spec_.network.Parameters()) {
      tensors.push_back({parameter->name, parameter->shape, [this, read, parameter](float* out) {
                           (adapter_.*read)(*parameter, out);
                         }});
    }
    return tensors;
  }

  void WriteParameters(const std::string& name, ReadTensor read) {
    WriteSafetensors(folder_ + "/" + name, Parameters(read));
  }

  /// Weights and, after them, the buffers.
  void WriteState(const std::string& name) {
    std::vector<OutputTensor> tensors = Parameters(&Adapter::ReadWeight);
    for (const Buffer* buffer : spec_.network.Buffers()) {
      tensors.push_back({buffer->name, buffer->shape,
                         [this, buffer](float* out) { adapter_.ReadBuffer(*buffer, out); }});
    }
    WriteSafetensors(folder_ + "/" + name, tensors);
  }

  Json Run(std::int64_t id, const Json& request) {
    const std::int64_t steps = Positive(request, "steps");
    const std::int64_t block = description_.asynchronous ? Positive(request, "block_steps") : 1;
    const std::int64_t first = request.IntegerAt("first_batch");
    if (first < 0) throw std::runtime_error("'first_batch' is negative");
    Records records(static_cast<std::size_t>((steps + block - 1) / block));
    if (request.BoolAt("reset")) {
      adapter_.Reset();
      adapter_.Synchronize();
    }
    RunBlocks(adapter_, spec_, description_.asynchronous, steps, block, first, records);
    for (std::size_t i = 0; i < records.losses.size(); ++i) CheckLoss(records.losses[i], i);
    Json reply = Reply(id, "ran");
    reply.Set("steps", Json::ArrayOf(records.steps));
    reply.Set("begin_ns", Json::ArrayOf(records.begin_ns));
    reply.Set("end_ns", Json::ArrayOf(records.end_ns));
    return reply.Set("losses", Json::ArrayOf(records.losses));
  }

  /// Steps of one request are limited so that the reply fits a line.
  static std::int64_t Positive(const Json& request, const std::string& key) {
    const std::int64_t value = request.IntegerAt(key);
    if (value < 1 || value > 1'000'000) {
      throw std::runtime_error("'" + key + "' must be from 1 to 1000000");
    }
    return value;
  }

  Json Observe(std::int64_t id, const Json& request) {
    const std::int64_t blocks = Positive(request, "blocks");
    const std::int64_t steps = Positive(request, "block_steps");
    const auto seed = static_cast<std::uint64_t>(request.IntegerAt("seed"));
    const std::string order = ObserverOrder(static_cast<std::size_t>(blocks), seed);
    const bool asynchronous = description_.asynchronous;
    Records records(static_cast<std::size_t>(asynchronous ? 1 : steps));
    std::vector<std::int64_t> bare, protocol;
    std::int64_t first = 0;
    for (const char kind : order) {
      if (kind == 'b') {
        bare.push_back(BareBlockNs(adapter_, spec_, steps, first));
      } else {
        RunBlocks(adapter_, spec_, asynchronous, steps, asynchronous ? steps : 1, first, records);
        protocol.push_back(records.end_ns.back() - records.begin_ns.front());
      }
      first = (first + steps) % spec_.pool;
    }
    Json reply = Reply(id, "observed");
    reply.Set("order", order).Set("bare_ns", Json::ArrayOf(bare));
    return reply.Set("protocol_ns", Json::ArrayOf(protocol));
  }

  Json Export(std::int64_t id, const Json& request) {
    const std::string folder = request.TextAt("folder");
    CheckInside(folder);
    adapter_.Synchronize();
    Json reply = Reply(id, "exported");
    WriteState(folder + "/weights.safetensors");
    reply.Set("weights", folder + "/weights.safetensors");
    if (adapter_.KeepsVelocity(spec_)) {
      WriteParameters(folder + "/velocity.safetensors", &Adapter::ReadVelocity);
      reply.Set("velocity", folder + "/velocity.safetensors");
    }
    return reply;
  }

  Json Finish(std::int64_t id) {
    Json reply = Reply(id, "finished");
    if (prepared_) {
      adapter_.Synchronize();
      reply.Set("peak_memory_bytes", adapter_.PeakMemoryBytes());
      reply.Set("parameter_checksum", Checksum());
      const std::map<std::string, std::string> settings = adapter_.EffectiveSettings();
      reply.Set("effective_settings",
                Json::ObjectOf(settings.empty() ? effective_settings_ : settings));
    } else {
      reply.Set("peak_memory_bytes", adapter_.PeakMemoryBytes());
      reply.Set("parameter_checksum", "").Set("effective_settings", Json::Object());
    }
    finished_ = true;
    return reply;
  }

  std::string Checksum() {
    std::uint32_t crc = 0;
    std::vector<float> values;
    for (const Parameter* parameter : spec_.network.Parameters()) {
      values.resize(parameter->count);
      adapter_.ReadWeight(*parameter, values.data());
      crc = Crc32(crc, values.data(), values.size() * sizeof(float));
    }
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "crc32:%08x", crc);
    return text.data();
  }

  Adapter& adapter_;
  std::string folder_;
  Description description_;
  bool described_ = false;
  bool prepared_ = false;
  bool finished_ = false;
  Spec spec_;
  std::unique_ptr<SafetensorsFile> weights_;
  std::unique_ptr<SafetensorsFile> batches_;
  std::map<std::string, std::string> effective_settings_;
};

/// A descriptor from the environment; -1 if it is not given.
inline int DescriptorFrom(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 && value < 1'000'000 ? static_cast<int>(value) : -1;
}

/// Answers dlbench until `finish` or the end of its requests. Returns the exit status of main.
inline int Serve(Adapter& adapter) {
  const int in = DescriptorFrom("DLBENCH_FD_IN");
  const int out = DescriptorFrom("DLBENCH_FD_OUT");
  if (in < 0 || out < 0) {
    std::fputs(
        "this is an adapter of dlbench: it is started by dlbench, which sets DLBENCH_FD_IN "
        "and DLBENCH_FD_OUT\n",
        stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    Channel channel(in, out);
    Server server(adapter, std::filesystem::current_path().string());
    std::string line;
    while (!server.finished() && channel.Read(line)) channel.Write(server.Answer(line));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "adapter: %s\n", error.what());
    return 1;
  }
}

}  // namespace dlbench::adapter
