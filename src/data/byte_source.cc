#include "data/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace dlbench::data {
namespace {

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(std::span<const std::byte> bytes) : rest_(bytes) {}

  Status Read(std::size_t limit, std::string& out) override {
    const std::size_t taken = std::min(limit, rest_.size());
    out.append(reinterpret_cast<const char*>(rest_.data()), taken);
    rest_ = rest_.subspan(taken);
    return {};
  }

 private:
  std::span<const std::byte> rest_;
};

Error Damaged(const std::string& what) {
  return Error(ErrorCode::kInput,
               "gzip data, expected IDX, and it cannot be decompressed: " + what);
}

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::span<const std::byte> bytes) : rest_(bytes) {
    constexpr int kGzipWindow = 15 + 16;  // zlib: largest window, gzip wrapper only
    usable_ = inflateInit2(&stream_, kGzipWindow) == Z_OK;
  }
  ~GzipSource() override {
    if (usable_) inflateEnd(&stream_);
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Status Read(std::size_t limit, std::string& out) override {
    if (!usable_) return Error(ErrorCode::kFailed, "zlib could not be started (out of memory?)");
    while (limit > 0 && !ended_) {
      const std::size_t before = out.size();
      DLBENCH_RETURN_IF_ERROR(Inflate(std::min(limit, kPieceBytes), out));
      limit -= out.size() - before;
    }
    return {};
  }

 private:
  static constexpr std::size_t kPieceBytes = 1U << 18;

  // Decompresses at most `piece` bytes behind `out`.
  Status Inflate(std::size_t piece, std::string& out) {
    const std::size_t offered =
        std::min<std::size_t>(rest_.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
    stream_.avail_in = static_cast<uInt>(offered);
    const std::size_t before = out.size();
    out.resize(before + piece);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream_.avail_out = static_cast<uInt>(piece);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    out.resize(before + piece - stream_.avail_out);
    rest_ = rest_.subspan(offered - stream_.avail_in);
    if (status == Z_STREAM_END) return EndMember();
    if (status == Z_BUF_ERROR || (status == Z_OK && rest_.empty() && stream_.avail_out > 0)) {
      return Damaged("it is cut short");
    }
    if (status != Z_OK) return Damaged(stream_.msg != nullptr ? stream_.msg : "damaged");
    return {};
  }

  // A gzip file may hold several members, one after the other (RFC 1952 section 2.2).
  Status EndMember() {
    if (rest_.empty()) {
      ended_ = true;
      return {};
    }
    if (!LooksLikeGzip(rest_)) {
      return Damaged(std::to_string(rest_.size()) + " trailing bytes after its end");
    }
    if (inflateReset(&stream_) != Z_OK) return Damaged("zlib could not go on");
    return {};
  }

  std::span<const std::byte> rest_;
  z_stream stream_{};
  bool usable_ = false;
  bool ended_ = false;
};

}  // namespace

bool LooksLikeGzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

std::unique_ptr<ByteSource> OpenBytes(std::span<const std::byte> file) {
  if (LooksLikeGzip(file)) return std::make_unique<GzipSource>(file);
  return std::make_unique<PlainSource>(file);
}

}  // namespace dlbench::data
