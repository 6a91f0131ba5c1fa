#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.h"
#include "data/safetensors.h"

namespace dlbench::data {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
// Our headers are some kilobytes; anything near this is not one.
constexpr std::uint64_t kMaxHeaderBytes = 16U << 20;
constexpr const char* kMetadataKey = "__metadata__";

Error Bad(const std::string& what) { return Error(ErrorCode::kInput, what); }

Error BadTensor(const std::string& name, const std::string& what) {
  return Bad("tensor '" + Printable(name) + "': " + what);
}

// Parses JSON and refuses a key that an object holds twice: parsers differ in which one they keep.
Result<json> ParseHeader(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string twice;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      twice = value.get<std::string>();
    }
    return true;
  };
  json header = json::parse(text, watch, /*allow_exceptions=*/false);
  if (header.is_discarded()) return Bad("the header is not valid JSON");
  if (!header.is_object()) return Bad("the header is not a JSON object");
  if (!twice.empty()) return Bad("the header holds the name '" + Printable(twice) + "' twice");
  return header;
}

// The header's text, once its length is known to be sane.
Result<std::string_view> HeaderText(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    return Bad("not a safetensors file: " + std::to_string(file.size()) +
               " bytes, fewer than the 8 of the header's length");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeaderBytes || length > file.size() - kLengthBytes) {
    return Bad("not a safetensors file, or cut short: a header of " + std::to_string(length) +
               " bytes in a file of " + std::to_string(file.size()));
  }
  return std::string_view(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                          static_cast<std::size_t>(length));
}

Result<std::vector<std::int64_t>> ParseShape(const std::string& name, const json& entry) {
  const auto shape = entry.find("shape");
  if (shape == entry.end() || !shape->is_array()) return BadTensor(name, "no list 'shape'");
  std::vector<std::int64_t> sizes;
  for (const auto& size : *shape) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > INT64_MAX) {
      return BadTensor(name, "a size in 'shape' is not a whole number from 0 up");
    }
    sizes.push_back(size.get<std::int64_t>());
  }
  return sizes;
}

Result<std::uint64_t> ByteCount(const std::string& name, const std::vector<std::int64_t>& shape,
                                DType type) {
  std::uint64_t bytes = SizeOf(type);
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
      return BadTensor(name, "the sizes in 'shape' multiply to more than any file holds");
    }
  }
  return bytes;
}

Result<TensorView> ParseTensor(const std::string& name, const json& entry,
                               std::span<const std::byte> data) {
  if (!entry.is_object()) return BadTensor(name, "its entry is not an object");
  const auto type_name = entry.find("dtype");
  if (type_name == entry.end() || !type_name->is_string()) return BadTensor(name, "no 'dtype'");
  const auto type = ParseDType(type_name->get_ref<const std::string&>());
  if (!type) {
    return BadTensor(name, "type '" + Printable(type_name->get<std::string>()) +
                               "' is not one that dlbench exchanges");
  }
  DLBENCH_ASSIGN_OR_RETURN(auto shape, ParseShape(name, entry));
  DLBENCH_ASSIGN_OR_RETURN(const std::uint64_t bytes, ByteCount(name, shape, *type));
  const auto offsets = entry.find("data_offsets");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
      !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
    return BadTensor(name, "'data_offsets' is not a pair of whole numbers");
  }
  const auto begin = (*offsets)[0].get<std::uint64_t>();
  const auto end = (*offsets)[1].get<std::uint64_t>();
  if (begin > end || end > data.size()) {
    return BadTensor(name, "bytes " + std::to_string(begin) + " to " + std::to_string(end) +
                               " do not lie in the file's " + std::to_string(data.size()) +
                               " bytes of data");
  }
  if (end - begin != bytes) {
    return BadTensor(name, "its shape needs " + std::to_string(bytes) + " bytes, it has " +
                               std::to_string(end - begin));
  }
  return TensorView{name, *type, std::move(shape), data.subspan(begin, end - begin)};
}

// The tensors must cover the data without overlap, gap or rest.
Status CheckCoverage(const std::map<std::string, TensorView>& tensors,
                     std::span<const std::byte> data) {
  std::vector<const TensorView*> ordered;
  for (const auto& [name, view] : tensors) ordered.push_back(&view);
  std::sort(ordered.begin(), ordered.end(), [](const TensorView* a, const TensorView* b) {
    return std::pair(a->bytes.data(), a->bytes.size()) <
           std::pair(b->bytes.data(), b->bytes.size());
  });
  const std::byte* covered = data.data();
  for (const TensorView* view : ordered) {
    if (view->bytes.data() < covered) return BadTensor(view->name, "it overlaps another tensor");
    if (view->bytes.data() > covered) return BadTensor(view->name, "unused bytes lie before it");
    covered = view->bytes.data() + view->bytes.size();
  }
  const auto rest = static_cast<std::size_t>(data.data() + data.size() - covered);
  if (rest > 0) return Bad(std::to_string(rest) + " trailing bytes belong to no tensor");
  return {};
}

Status ParseMetadata(const json& entries, std::map<std::string, std::string>& metadata) {
  if (!entries.is_object()) return Bad("'__metadata__' is not an object");
  for (const auto& [key, value] : entries.items()) {
    if (!value.is_string()) return Bad("metadata '" + Printable(key) + "' is not a text");
    metadata[key] = value.get<std::string>();
  }
  return {};
}

}  // namespace

Result<SafetensorsContent> ParseSafetensors(std::span<const std::byte> file) {
  DLBENCH_ASSIGN_OR_RETURN(const std::string_view text, HeaderText(file));
  DLBENCH_ASSIGN_OR_RETURN(const json header, ParseHeader(text));
  const auto data = file.subspan(kLengthBytes + text.size());
  SafetensorsContent content;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadataKey) {
      DLBENCH_RETURN_IF_ERROR(ParseMetadata(entry, content.metadata));
      continue;
    }
    DLBENCH_ASSIGN_OR_RETURN(content.tensors[name], ParseTensor(name, entry, data));
  }
  DLBENCH_RETURN_IF_ERROR(CheckCoverage(content.tensors, data));
  return content;
}

Result<SafetensorsFile> SafetensorsFile::Open(const std::filesystem::path& path) {
  DLBENCH_ASSIGN_OR_RETURN(auto mapped, MappedFile::Open(path));
  SafetensorsFile file(std::move(mapped));
  auto content = ParseSafetensors({file.file_.data(), file.file_.size()});
  if (!content.ok()) return content.error().WithContext("reading '" + path.string() + "'");
  file.tensors_ = std::move(content->tensors);
  file.metadata_ = std::move(content->metadata);
  file.AlignTensors();
  return file;
}

void SafetensorsFile::AlignTensors() {
  for (auto& [name, view] : tensors_) {
    if (reinterpret_cast<std::uintptr_t>(view.bytes.data()) % SizeOf(view.dtype) == 0) continue;
    auto copy = std::make_unique<std::byte[]>(view.bytes.size());
    std::copy(view.bytes.begin(), view.bytes.end(), copy.get());
    view.bytes = {copy.get(), view.bytes.size()};
    aligned_copies_.push_back(std::move(copy));
  }
}

const TensorView* SafetensorsFile::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace dlbench::data
