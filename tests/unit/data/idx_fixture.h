#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dlbench::data {

/// Four bytes, most significant first.
inline std::string BigEndian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xFF);
  return bytes;
}

/// The four bytes in the wrong order.
inline std::string LittleEndian(std::uint32_t value) {
  const std::string bytes = BigEndian(value);
  return {bytes.rbegin(), bytes.rend()};
}

/// Three images of 2x2 with pixels first, first + 1 ...
inline std::string TinyImages(char first = 1) {
  std::string bytes = BigEndian(2051) + BigEndian(3) + BigEndian(2) + BigEndian(2);
  for (char i = 0; i < 12; ++i) bytes += static_cast<char>(first + i);
  return bytes;
}

/// Their labels.
inline std::string TinyLabels(const std::vector<int>& labels = {7, 0, 9}) {
  std::string bytes = BigEndian(2049) + BigEndian(static_cast<std::uint32_t>(labels.size()));
  for (const int label : labels) bytes += static_cast<char>(label);
  return bytes;
}

/// `content` as one gzip member.
inline std::string Gzip(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string input = content;
  std::string output(deflateBound(&stream, static_cast<uLong>(content.size())) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(output.size());
  deflate(&stream, Z_FINISH);
  output.resize(stream.total_out);
  deflateEnd(&stream);
  return output;
}

}  // namespace dlbench::data
