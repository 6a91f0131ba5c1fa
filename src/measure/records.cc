#include "measure/measure.h"

namespace dlbench::measure {
namespace {

constexpr std::size_t kStepsBytes = 4;
constexpr std::size_t kTimeBytes = 8;
constexpr std::size_t kRecordBytes = kStepsBytes + 2 * kTimeBytes;

void AppendLittleEndian(std::string& blob, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) blob += static_cast<char>((value >> (8 * i)) & 0xFF);
}

std::uint64_t TakeLittleEndian(std::string_view& blob, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(blob[i])) << (8 * i);
  }
  blob.remove_prefix(bytes);
  return value;
}

}  // namespace

std::string EncodeRecords(std::span<const StepRecord> records) {
  std::string blob;
  blob.reserve(records.size() * kRecordBytes);
  for (const StepRecord& record : records) {
    AppendLittleEndian(blob, record.steps, kStepsBytes);
    AppendLittleEndian(blob, static_cast<std::uint64_t>(record.begin_ns), kTimeBytes);
    AppendLittleEndian(blob, static_cast<std::uint64_t>(record.end_ns), kTimeBytes);
  }
  return blob;
}

std::optional<std::vector<StepRecord>> DecodeRecords(std::string_view blob) {
  if (blob.size() % kRecordBytes != 0) return std::nullopt;
  std::vector<StepRecord> records;
  records.reserve(blob.size() / kRecordBytes);
  while (!blob.empty()) {
    StepRecord record;
    record.steps = static_cast<std::uint32_t>(TakeLittleEndian(blob, kStepsBytes));
    record.begin_ns = static_cast<std::int64_t>(TakeLittleEndian(blob, kTimeBytes));
    record.end_ns = static_cast<std::int64_t>(TakeLittleEndian(blob, kTimeBytes));
    records.push_back(record);
  }
  return records;
}

}  // namespace dlbench::measure
