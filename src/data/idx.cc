#include "data/idx.h"

#include "core/file.h"
#include "data/byte_source.h"

namespace dlbench::data {
namespace {

constexpr std::uint32_t kImagesMagic = 2051;  // 00 00, 08 = unsigned byte, 03 = dimensions
constexpr std::uint32_t kLabelsMagic = 2049;
// MNIST's images are 47 MB; nothing of this format that dlbench trains on comes near.
constexpr std::uint64_t kMaxBytes = 1ULL << 30;

Error Bad(const std::string& what) { return Error(ErrorCode::kInput, what); }

std::uint32_t BigEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::uint32_t Swapped(std::uint32_t value) {
  return (value >> 24) | ((value >> 8) & 0xFF00) | ((value << 8) & 0xFF0000) | (value << 24);
}

Status CheckMagic(std::uint32_t magic, IdxKind kind) {
  const bool images = kind == IdxKind::kImages;
  const std::uint32_t wanted = images ? kImagesMagic : kLabelsMagic;
  if (magic == wanted) return {};
  const std::string expected = std::string("; expected ") + (images ? "images" : "labels") +
                               " (magic number " + std::to_string(wanted) + ")";
  const std::string found = " (magic number " + std::to_string(magic) + ")";
  if (magic == kLabelsMagic) return Bad("this is a labels file" + found + expected);
  if (magic == kImagesMagic) return Bad("this is an images file" + found + expected);
  if (Swapped(magic) == kImagesMagic || Swapped(magic) == kLabelsMagic) {
    return Bad("byte order swapped" + found + expected + "; IDX numbers are big-endian");
  }
  if ((magic >> 16) == 0x1F8B) {
    return Bad("gzip data, expected IDX: it is compressed twice; decompress it once");
  }
  return Bad("not an IDX file of unsigned bytes" + found + expected);
}

// Appends exactly `count` bytes.
Status ReadExactly(ByteSource& source, std::size_t count, const std::string& what,
                   std::string& out) {
  const std::size_t before = out.size();
  DLBENCH_RETURN_IF_ERROR(source.Read(count, out));
  const std::size_t got = out.size() - before;
  if (got == count) return {};
  return Bad("cut short: " + what + " needs " + std::to_string(count) + " bytes, " +
             std::to_string(got) + " are there");
}

Result<network::Shape> ReadHeader(ByteSource& source, IdxKind kind) {
  std::string magic;
  DLBENCH_RETURN_IF_ERROR(ReadExactly(source, 4, "the magic number", magic));
  DLBENCH_RETURN_IF_ERROR(CheckMagic(BigEndian(magic), kind));
  const std::size_t dimensions = kind == IdxKind::kImages ? 3 : 1;
  std::string sizes;
  DLBENCH_RETURN_IF_ERROR(ReadExactly(source, 4 * dimensions, "the header", sizes));
  network::Shape shape;
  for (std::size_t i = 0; i < dimensions; ++i) {
    shape.push_back(BigEndian(std::string_view(sizes).substr(4 * i, 4)));
  }
  return shape;
}

// The product of sizes below 2^32 each; checked at every step, so that it cannot overflow.
Result<std::size_t> CheckedBytes(const network::Shape& shape) {
  std::uint64_t bytes = 1;
  for (const std::int64_t size : shape) {
    if (size == 0) return Bad("its header says " + network::ToString(shape) + ": no data");
    bytes *= static_cast<std::uint64_t>(size);
    if (bytes > kMaxBytes) {
      return Bad("its header says " + network::ToString(shape) + ", more than 1 GiB");
    }
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Result<IdxContent> ParseIdx(std::span<const std::byte> file, IdxKind kind) {
  const auto source = OpenBytes(file);
  IdxContent content;
  DLBENCH_ASSIGN_OR_RETURN(content.shape, ReadHeader(*source, kind));
  DLBENCH_ASSIGN_OR_RETURN(const std::size_t bytes, CheckedBytes(content.shape));
  DLBENCH_RETURN_IF_ERROR(
      ReadExactly(*source, bytes, network::ToString(content.shape), content.bytes));
  std::string rest;
  DLBENCH_RETURN_IF_ERROR(source->Read(1, rest));
  if (!rest.empty()) {
    return Bad("trailing bytes after the " + std::to_string(bytes) + " that its header " +
               network::ToString(content.shape) + " announces");
  }
  return content;
}

Result<IdxContent> ReadIdx(const std::filesystem::path& path, IdxKind kind) {
  DLBENCH_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  auto content = ParseIdx({file.data(), file.size()}, kind);
  if (!content.ok()) return content.error().WithContext("reading '" + path.string() + "'");
  return content;
}

}  // namespace dlbench::data
